import { expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { Frame } from '#contract/chat/frame.ts';
import { ResponseRun } from './response-run.ts';
import { OfferedTools } from './translation/offered-tools.ts';

it('throws for a reply of more than 64 MiB, because its final events contain its text several times', () => {
  const options = {
    ...{ id: 'resp_1', createdAtSeconds: 1, request: { input: [], stream: true }, model: 'm', isStored: true },
    ...{ isBackground: false, conversation: undefined, clock: systemClock, isForwardedUnchanged: false },
    ...{ allowedCalls: undefined, onStart: () => undefined, onEnd: () => undefined, tools: new OfferedTools() },
    ...{ seal: JSON.stringify, showsSealed: false, deployment: 'm', runsRemoteTools: false },
  };
  const run = new ResponseRun(options as never);
  const content = 'x'.repeat(1024 * 1024);
  const choice = { index: 0, delta: { content }, finish_reason: null };
  const chunk = { id: 'c', object: 'chat.completion.chunk' as const, created: 1, choices: [choice] };
  const consumeMebibytes = (count: number) => {
    for (let index = 0; index < count; index += 1) run.consume(Frame.ofChunks(chunk as never));
  };
  consumeMebibytes(60);
  expect(() => consumeMebibytes(5)).toThrow('The reply is too large for the Responses API.');
});
