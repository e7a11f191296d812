import { expect, it } from 'vitest';
import { Frame } from '#contract/chat/frame.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { ToolContext } from '#domain/tools/tool.ts';
import { text } from '#test/chunks.ts';
import { createDeploymentTool } from './deployment-tool.ts';

const deployment = { id: 'other', kind: 'application' } as Deployment;

it('createDeploymentTool rejects an endless answer and reports its usage', async () => {
  const frame = Frame.ofChunks(text('x'.repeat(1024 * 1024)));
  let sent = 0;
  async function* frames(): AsyncIterable<Frame> {
    for (; sent < 100; sent += 1) yield frame;
  }
  const reported: unknown[] = [];
  const context = { signal: new AbortController().signal, report: async (progress: unknown) => reported.push(progress) };
  const tool = createDeploymentTool(deployment, async () => ({ headers: {}, frames: frames(), used: () => [] }));
  const running = tool.run({ query: 'Talk.' }, context as unknown as ToolContext);
  await expect(running).rejects.toMatchObject({ code: 'upstream_failed', message: 'The answer is too large for a tool result.' });
  expect(sent).toBeLessThan(70);
  expect(reported).toEqual([{ usage: [] }]);
});
