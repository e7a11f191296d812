import { describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { Frame } from '#contract/chat/frame.ts';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { runCase } from './run-case.ts';

/** Runs a case whose application answers with this message. */
function runWith(message: object) {
  const chunk = {
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  };
  async function* createFrames() {
    yield Frame.ofChunks(chunk as never);
  }
  const deps = {
    snapshot: () => ({ configuration: { evaluations: { caseTimeoutMs: 60_000 } } }),
    clock: systemClock,
    sendRequest: async () => ({ frames: createFrames(), used: () => [] }),
  };
  const evaluationCase = { input: 'Hello', checks: [{ type: 'calls', tool: 'last' }] };
  const run = { case: evaluationCase, caller: {}, deployment: 'app', version: 1, signal: new AbortController().signal };
  return runCase(deps as never, run as never);
}

describe('runCase', () => {
  it('stores the first 64,000 characters of the tool runs, and checks all of them', async () => {
    const names = [...Array.from({ length: 100 }, () => 'many'), 'last'];
    const tool_calls = names.map((name, index) => ({
      ...{ index, id: `call_${index}`, type: 'function' },
      function: { name, arguments: JSON.stringify({ text: 'x'.repeat(10_000) }) },
    }));
    const { outcome, toolRuns } = await runWith({ tool_calls });
    expect([outcome, toolRuns.length]).toEqual(['passed', 6]);
  });

  it('does not block the event loop for a trace of many tools', async () => {
    const trace = Array.from({ length: 30_000 }, (_, nth) => ({ kind: 'tool', name: `tool ${nth % 1000}` }));
    const blockedMs = await measureMinEventLoopBlock(250, () => runWith({ custom_content: { trace } }));
    expect(blockedMs).toBeLessThan(250);
  });
});
