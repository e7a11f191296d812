import { expect, it } from 'vitest';
import type { Frame, RawFrame } from '#contract/chat/frame.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { createTranslatedDialect } from './read-reply.ts';

it('createTranslatedDialect ignores texts of a response that are not texts', () => {
  const dialect = createTranslatedDialect(() => new UpstreamError('broken', 'x'), { createdSeconds: 1, model: 'm' });
  const parts =
    '[{"type":"output_text","text":9007199254740993},{"type":"output_text","text":{"toString":1}},{"type":"output_text","text":"x"}]';
  const output = `[{"type":"message","role":"assistant","content":${parts}}]`;
  const frame = dialect.readComplete(`{"id":"r","object":"response","status":"completed","output":${output}}`, {}) as RawFrame;
  expect(frame.completion?.choices).toMatchObject([{ message: { content: 'x' } }]);
});

it.each([
  ['only in the complete item', [], '{"a":1}'],
  ['as an object', [], { a: 1 }],
  ['under other item IDs', [{ type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":1}' }], '{"a":1}'],
])('createTranslatedDialect reads the arguments of a streamed call that arrive %s', (_where, middle, args) => {
  const dialect = createTranslatedDialect(() => new UpstreamError('broken', 'x'), { createdSeconds: 1, model: 'm' });
  const item = { type: 'function_call', call_id: 'c', name: 'f' };
  const events = [
    { type: 'response.output_item.added', output_index: 1, item: { ...item, arguments: '' } },
    ...middle,
    { type: 'response.output_item.done', output_index: 1, item: { ...item, arguments: args } },
  ].map((event, nth) => `data: ${JSON.stringify({ ...event, item_id: `i${nth}` })}\n\n`);
  const frames: Frame[] = [];
  const reply = { push: (frame: Frame) => void frames.push(frame) };
  dialect.createEventReader?.({} as never).readEvents(events.join(''), reply as never);
  const calls = frames.flatMap(({ chunks }) => chunks).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  expect(calls.map((call) => call.function?.arguments).join('')).toBe('{"a":1}');
});
