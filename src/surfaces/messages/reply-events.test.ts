import fc from 'fast-check';
import '#test/same-cases.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Chunk, Delta, FinishReason } from '#contract/chat/chunk.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { MessagesReply } from '#contract/messages/dialect.ts';
import { chunk, delta, finish, text, usage } from '#test/chunks.ts';
import { buildBlocks, findGrammarErrors } from '#test/message-events.ts';
import type { MessageEvent } from './blocks.ts';
import { MessageFold } from './message-reply.ts';
import { ReplyEvents } from './reply-events.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const options = { messageId: 'msg_1', model: 'gpt', promptTokens: 9, toToolName: (name: string) => name };

function toEvents(chunks: readonly Chunk[]): MessageEvent[] {
  const events = new ReplyEvents(options);
  return [...chunks.flatMap((each) => events.add(each)), ...events.end()];
}

function foldMessage(chunks: readonly Chunk[]): MessagesReply {
  const fold = new MessageFold();
  for (const event of toEvents(chunks)) fold.add(event);
  return fold.message ?? expect.unreachable();
}

function call(index: number, args: string, { id, name }: { id?: string; name?: string } = {}): Chunk {
  const functionDelta = { ...(name !== undefined && { name }), arguments: args };
  return delta({ tool_calls: [{ index, ...(id !== undefined && { id, type: 'function' }), function: functionDelta }] });
}

const start = delta({ role: 'assistant', content: '' });

describe('ReplyEvents', () => {
  it('converts a plain reply to one message with one block', () => {
    expect(toEvents([start, text('Hel'), text('lo'), finish(), usage(7, 5)])).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'gpt',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
        parley: {},
      },
      { type: 'message_stop' },
    ]);
  });

  it('reports cached and newly cached input tokens separately', () => {
    const counts = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    expect(foldMessage([start, finish(), chunk({ usage: counts })]).usage).toEqual({
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 60,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    });
  });

  it.each<[FinishReason, string]>([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
  ])('converts the finish reason %s to %s', (reason, expected) => {
    expect(foldMessage([start, text('x'), finish(reason)]).stop_reason).toBe(expected);
  });

  it('reports a refusal as text and as the stop reason', () => {
    const message = foldMessage([start, delta({ refusal: 'I will not.' }), finish()]);
    expect(message).toMatchObject({ stop_reason: 'refusal', content: [{ type: 'text', text: 'I will not.' }] });
  });

  it('ignores additional choices', () => {
    expect(foldMessage([start, text('mine'), text('another', 1), finish()]).content).toEqual([{ type: 'text', text: 'mine' }]);
  });
});

describe('ReplyEvents for thinking', () => {
  const thinks = { type: 'thinking', thinking: 'Hm.', signature: '' };

  it.each([
    ['reasoning_content', { reasoning_content: 'Hm.' }],
    ['reasoning', { reasoning: 'Hm.' }],
    ['blocks', { thinking_blocks: [{ type: 'thinking', thinking: 'Hm.' }] }],
    ['both', { reasoning_content: 'Hm.', thinking_blocks: [{ type: 'thinking', thinking: 'Hm.' }] }],
  ])('creates one block before the text for thinking in %s', (_form, thought) => {
    const message = foldMessage([start, delta(thought as Delta), text('So.'), finish()]);
    expect(message.content).toEqual([thinks, { type: 'text', text: 'So.' }]);
  });

  it('assigns each signature to its thinking', () => {
    const signed = (signature: string): Chunk => delta({ thinking_blocks: [{ type: 'thinking', signature }] });
    const thought = (reasoning_content: string): Chunk => delta({ reasoning_content });
    const message = foldMessage([start, thought('one'), signed('s1'), thought('two'), signed('s2'), text('So.'), finish()]);
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'one', signature: 's1' },
      { type: 'thinking', thinking: 'two', signature: 's2' },
      { type: 'text', text: 'So.' },
    ]);
  });

  it('forwards redacted thinking', () => {
    const hidden = delta({ thinking_blocks: [{ type: 'redacted_thinking', data: 'abc' }] });
    expect(foldMessage([start, hidden, finish()]).content).toEqual([{ type: 'redacted_thinking', data: 'abc' }]);
  });
});

describe('ReplyEvents for tool calls', () => {
  it('creates blocks and streams the arguments', () => {
    const events = toEvents([
      start,
      call(0, '', { id: 'call_1', name: 'f' }),
      call(0, '{"a"'),
      call(0, ':1}'),
      finish('tool_calls'),
    ]);
    expect(events.filter(({ type }) => type.startsWith('content_block'))).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'call_1', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ':1}' } },
      { type: 'content_block_stop', index: 0 },
    ]);
  });

  it('starts the next call before the reply ends', () => {
    const events = new ReplyEvents(options);
    for (const each of [start, call(0, '{"a":1}', { id: 'a', name: 'f' })]) events.add(each);
    expect(events.add(call(1, '{', { id: 'b', name: 'g' })).map(({ type }) => type)).toEqual([
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
    ]);
  });

  it('separates interleaved calls', () => {
    const mixed = [
      call(0, '{"a"', { id: 'a', name: 'f' }),
      call(1, '{"b"', { id: 'b', name: 'g' }),
      text('Meanwhile.'),
      call(0, ':1}'),
      call(1, ':2}'),
    ];
    expect(foldMessage([start, ...mixed, finish('tool_calls')]).content).toEqual([
      { type: 'tool_use', id: 'a', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'b', name: 'g', input: { b: 2 } },
      { type: 'text', text: 'Meanwhile.' },
    ]);
  });

  it('throws upstream_failed if too many calls have no name', () => {
    const nameless = Array.from({ length: 1_001 }, (_, index) => call(index, '{}'));
    expect(() => foldMessage([start, text('Hello.'), ...nameless])).toThrow('too many');
  });

  it('returns an empty input for a call without arguments', () => {
    const [block] = foldMessage([start, call(0, '', { id: 'a', name: 'f' }), finish('tool_calls')]).content;
    expect(block).toMatchObject({ type: 'tool_use', name: 'f', input: {}, id: 'a' });
  });

  it('marks a function call in its ID', () => {
    const [block] = foldMessage([
      start,
      delta({ function_call: { name: 'f', arguments: '{"a":1}' } }),
      finish('function_call'),
    ]).content;
    expect(block).toEqual({ type: 'tool_use', id: 'fcall_msg_1', name: 'f', input: { a: 1 } });
  });

  it('throws for an incomplete call unless the reply is truncated', () => {
    const half = [start, call(0, '{"a":', { id: 'a', name: 'f' })];
    expect(() => toEvents([...half, finish('tool_calls')])).toThrow('not a JSON object');
    expect(foldMessage([...half, finish('length')])).toMatchObject({ stop_reason: 'max_tokens', content: [{ input: {} }] });
  });

  it('parses the arguments once, regardless of the number of pieces while another call waits', () => {
    const events = new ReplyEvents(options);
    const parse = vi.spyOn(JSON, 'parse');
    events.add(call(0, '{"list":[{}', { id: 'first', name: 'first' }));
    events.add(call(1, '{', { id: 'second', name: 'second' }));
    for (let count = 0; count < 100; count += 1) events.add(call(0, ',{}'));
    for (const [index, rest] of [']}', '}'].entries()) events.add(call(index, rest));
    events.end();
    expect(parse).toHaveBeenCalledTimes(2);
  });

  it('limits the size of waiting calls', () => {
    const events = new ReplyEvents(options);
    for (const each of [start, call(0, '{"a"', { id: 'a', name: 'f' })]) events.add(each);
    const largePiece = 'x'.repeat(9 * 1024 * 1024);
    events.add(call(1, largePiece, { id: 'b', name: 'g' }));
    expect(() => events.add(call(1, largePiece))).toThrow(ParleyError);
  });
});

describe('ReplyEvents for content without a counterpart', () => {
  const stage = (more: object): Chunk => delta({ custom_content: { stages: [{ index: 0, ...more }] } });
  const statistics = { usage_per_model: [] };
  const chunks = [
    start,
    stage({ name: 'Search', status: null }),
    stage({ content: 'found ' }),
    stage({ content: 'it', status: 'completed' }),
    text('Here.'),
    delta({ custom_content: { state: { step: 1 }, attachments: [{ index: 0, title: 'A', data: 'a' }] } }),
    finish(),
    chunk({ statistics }),
  ];
  const extension = {
    custom_content: {
      stages: [{ index: 0, name: 'Search', status: 'completed', content: 'found it' }],
      state: { step: 1 },
      attachments: [{ index: 0, title: 'A', data: 'a' }],
    },
    statistics,
  };

  it('streams it in pings and repeats it completely at the end', () => {
    const events = toEvents(chunks);
    const pings = events.filter(({ type }) => type === 'ping');
    expect(pings).toHaveLength(4);
    expect(pings[1]).toEqual({ type: 'ping', parley: { custom_content: { stages: [{ index: 0, content: 'found ' }] } } });
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', parley: extension });
  });

  it('adds it to the assembled message', () => {
    expect(foldMessage(chunks)).toMatchObject({ content: [{ type: 'text', text: 'Here.' }], parley: extension });
  });

  it('sends it only in pings if it is too large', () => {
    const large = Array.from({ length: 17 }, () => stage({ content: 'x'.repeat(1024 * 1024) }));
    expect(foldMessage([start, ...large, finish(), chunk({ statistics })]).parley).toEqual({ statistics });
  });
});

const anything = fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.constant(undefined));
// Tool calls are well-formed here because the normalizer repairs them.
const calledFunction = fc.record(
  { name: fc.string(), arguments: fc.oneof(fc.constantFrom('{', '}', '{}', '"a":1', ' '), fc.string()) },
  { requiredKeys: ['arguments'] },
);
const toolFragment = fc.record(
  { index: fc.integer({ min: 0, max: 3 }), id: fc.string(), function: calledFunction },
  { requiredKeys: ['index', 'function'] },
);
const thinkingBlock = fc.record(
  { type: fc.constantFrom('thinking', 'redacted_thinking', 'x'), thinking: anything, signature: anything, data: anything },
  { requiredKeys: ['type'] },
);
const anyDelta = fc.record(
  {
    role: fc.constant('assistant'),
    content: anything,
    reasoning_content: anything,
    refusal: anything,
    tool_calls: fc.oneof(fc.array(toolFragment, { maxLength: 3 }), fc.constantFrom(null, undefined)),
    function_call: fc.oneof(calledFunction, fc.constantFrom(null, undefined)),
    thinking_blocks: fc.oneof(fc.array(fc.oneof(thinkingBlock, anything), { maxLength: 2 }), anything),
    custom_content: fc.oneof(fc.record({ stages: fc.constant([{ index: 0, name: 's', status: null }]) }), anything),
  },
  { requiredKeys: [] },
);
const anyChunk = fc.record({
  choices: fc.array(
    fc.record({
      index: fc.integer({ min: 0, max: 1 }),
      delta: fc.oneof(anyDelta, fc.constant(undefined)),
      finish_reason: fc.constantFrom(null, 'stop', 'length', 'tool_calls', 'odd'),
    }),
    { maxLength: 2 },
  ),
});

describe('ReplyEvents for arbitrary chunks', () => {
  it('keeps the order of events or throws upstream_failed', () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 20 }), (chunks) => {
        const reply = new ReplyEvents(options);
        const events: MessageEvent[] = [];
        try {
          for (const each of chunks) events.push(...reply.add(each as unknown as Chunk));
          events.push(...reply.end());
        } catch (error) {
          expect(error).toMatchObject({ code: 'upstream_failed' });
          return;
        }
        expect(findGrammarErrors(events)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('preserves all text and tool calls, regardless of how they are split and interleaved', () => {
    const args = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(
        fc.array(args, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }),
        (calls, order) => {
          const remaining = calls.map((json) => json);
          const chunks = [start, ...calls.map((_json, index) => call(index, '', { id: `id${index}`, name: `tool${index}` }))];
          let expectedText = '';
          for (const index of [...order, ...calls.keys()]) {
            const rest = remaining[index];
            if (rest === undefined) {
              chunks.push(text('word '));
              expectedText += 'word ';
              continue;
            }
            const size = order.length % 2 === 0 ? 3 : rest.length;
            chunks.push(call(index, rest.slice(0, size)));
            remaining[index] = rest.slice(size);
          }
          chunks.push(...calls.map((_json, index) => call(index, remaining[index] ?? '')), finish('tool_calls'));
          const events = toEvents(chunks);
          expect(findGrammarErrors(events)).toEqual([]);
          const blocks = buildBlocks(events);
          expect(
            blocks
              .filter(({ type }) => type === 'text')
              .map((block) => block.text)
              .join(''),
          ).toBe(expectedText);
          const tools = blocks.filter(({ type }) => type === 'tool_use');
          expect(Object.fromEntries(tools.map(({ id, json }) => [id, json]))).toEqual(
            Object.fromEntries(calls.map((json, index) => [`id${index}`, json])),
          );
        },
      ),
    );
  });
});
