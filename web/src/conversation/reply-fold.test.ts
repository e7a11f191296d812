import { expect, it } from 'vitest';
import type { Chunk, ResponseCustomContent } from '#contract/chat/chunk.ts';
import { listClientCalls, type Reply } from './conversation.ts';
import { ReplyFold } from './reply-fold.ts';

const start: Reply = {
  ...{ kind: 'reply', id: 'r', parent: 'q', atMs: 0, deployment: 'demo', state: 'running', text: '', custom: {}, stageTimes: {} },
};
const chunk = (fields: object): Chunk => ({ id: '', object: 'chat.completion.chunk', created: 0, choices: [], ...fields });
const part = (custom_content: ResponseCustomContent, content = ''): Chunk =>
  chunk({ choices: [{ index: 0, delta: { content, custom_content }, finish_reason: null }] });

it('accumulates the chunks of a reply', () => {
  const fold = new ReplyFold(start);
  fold.add(part({ attachments: [{ index: 0, data: 'a' }] }, 'Hel'), 1);
  fold.add(part({ attachments: [{ index: 0, data: 'b' }] }, 'lo'), 2);
  fold.add(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage: { total_tokens: 3 } }), 3);
  expect(fold.getReply()).toMatchObject({
    id: 'r',
    text: 'Hello',
    finish: 'length',
    usage: { total_tokens: 3 },
    custom: { attachments: [{ data: 'ab' }] },
  });
});

it('records step times and nests a step in the only one in progress', () => {
  const fold = new ReplyFold(start);
  fold.add(part({ stages: [{ index: 0, name: 'outer', status: null }] }), 10);
  fold.add(part({ stages: [{ index: 1, name: 'inner', status: null }] }), 20);
  fold.add(part({ stages: [{ index: 1, status: 'completed' }] }), 30);
  fold.add(part({ stages: [{ index: 0, status: 'completed' }] }), 40);
  fold.add(
    part({
      stages: [
        { index: 2, status: null },
        { index: 3, status: null },
      ],
    }),
    50,
  );
  expect(fold.getReply().stageTimes).toEqual({
    0: { startedAtMs: 10, endedAtMs: 40 },
    1: { startedAtMs: 20, endedAtMs: 30, within: 0 },
    2: { startedAtMs: 50 },
    3: { startedAtMs: 50, within: 2 },
  });
});

it('shows the steps and the text of both parts when a failed reply continues', () => {
  const stage = { name: 'one', status: 'completed' as const };
  const failed: Reply = {
    ...{ ...start, state: 'failed', text: 'First.', stageTimes: { 0: { startedAtMs: 1, endedAtMs: 2 } } },
    custom: { stages: [{ index: 0, ...stage }], state: { run: 'broken' } },
  };
  const fold = new ReplyFold(start, failed);
  fold.add(part({ stages: [{ index: 0, ...stage, name: 'two' }] }), 5);
  fold.add(part({ state: { run: 'over' } }, 'Then.'), 6);
  expect(fold.getReply()).toMatchObject({
    text: 'First.\n\nThen.',
    custom: {
      stages: [
        { index: 0, name: 'one' },
        { index: 1, name: 'two' },
      ],
      state: { run: 'over' },
    },
    stageTimes: { 0: { startedAtMs: 1 }, 1: { startedAtMs: 5, endedAtMs: 5 } },
  });
});

it('accumulates tool calls', () => {
  const fold = new ReplyFold(start);
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a"' } };
  for (const tool_calls of [[call], [{ index: 0, function: { arguments: ':1}' } }]])
    fold.add(chunk({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] }), 1);
  expect(listClientCalls(fold.getReply())).toEqual([{ id: 'c1', name: 'look', input: '{"a":1}' }]);
});

it('keeps thoughts separate from the text', () => {
  const fold = new ReplyFold(start);
  for (const reasoning_content of ['First ', 'this.'])
    fold.add(chunk({ choices: [{ index: 0, delta: { reasoning_content }, finish_reason: null }] }), 1);
  fold.add(part({}, 'Answer.'), 2);
  expect(fold.getReply()).toMatchObject({ thoughts: 'First this.', text: 'Answer.' });
});

it('reports chunks that cannot be merged as a service error', () => {
  const fold = new ReplyFold(start);
  expect(() => fold.add(part({ attachments: [{ index: -1, data: 'a' }] }), 1)).toThrow(
    expect.objectContaining({ details: { status: 200, code: 'upstream_failed', message: expect.stringContaining('index -1') } }),
  );
});
