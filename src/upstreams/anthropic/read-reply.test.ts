import { array, assert, asyncProperty, integer } from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { fixture, translate } from '#test/anthropic-streams.ts';
import { readFrames } from '#test/streamed-reply.ts';
import { RelayedEvents } from './event-readers.ts';

const head = { object: 'chat.completion', created: 1_700_000_000, model: 'claude-sonnet-5-5-20260801' };
const uncached = { prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } };

function usage(prompt_tokens: number, completion_tokens: number, details: object = uncached) {
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    service_tier: 'standard',
    ...details,
  };
}

function reply(id: string, message: object, finish_reason: string, counts: object) {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }];
  return { id, ...head, usage: counts, choices };
}

function call(id: string, name: string, args: string) {
  return { id, type: 'function', function: { name, arguments: args } };
}

const thinking = 'The user asks\nfor "17 × 3". It is 51.';
const replies = {
  text: reply('msg_01Text', { content: 'Grüße, 你好 😀: "a\\b"\nBye.' }, 'stop', usage(12, 15)),
  'tools-parallel': reply(
    'msg_01Tools',
    {
      content: 'I look it up.',
      tool_calls: [
        call('toolu_01A', 'get_weather', '{"city": "Paris"}'),
        call('toolu_01B', 'get_time', '{}'),
        call('toolu_01C', 'get_weather', '{"city": "Köln"}'),
      ],
    },
    'tool_calls',
    usage(12, 89),
  ),
  thinking: reply(
    'msg_01Think',
    {
      content: '51',
      reasoning_content: thinking,
      thinking_blocks: [
        { type: 'thinking', thinking, signature: 'EqQBCkYIBhgCKkAs==' },
        { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
      ],
    },
    'stop',
    usage(40, 60, { ...uncached, completion_tokens_details: { reasoning_tokens: 44 } }),
  ),
  refusal: reply('msg_01No', { content: 'I', refusal: 'This could enable harm.' }, 'content_filter', usage(12, 3)),
  'cache-usage': reply('msg_01Cache', { content: 'Yes.' }, 'length', {
    ...{ prompt_tokens: 32_010, completion_tokens: 7, total_tokens: 32_017 },
    prompt_tokens_details: { cached_tokens: 30_000, cache_write_tokens: 2000 },
  }),
  'server-tools': reply(
    'msg_01Web',
    {
      content: 'It is so.',
      custom_content: {
        attachments: [
          { index: 0, type: 'text/plain', title: 'A page', data: 'It is so.', reference_url: 'https://example.org/a' },
        ],
      },
    },
    'stop',
    usage(12, 20),
  ),
};
const names = Object.keys(replies) as (keyof typeof replies)[];

function splitAt(text: string, positions: readonly number[]): string[] {
  const sorted = [...new Set(positions.map((position) => position % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => text.slice(start, sorted[index] ?? text.length));
}

describe.each(names)('the stream "%s"', (name) => {
  const text = fixture(name);

  it('translates to the expected reply in the chat completions format', async () => {
    const { folded, error } = await translate([text]);
    expect(error).toBeUndefined();
    expect(folded).toEqual(replies[name]);
  });

  it('translates to the same reply for every split of its bytes', async () => {
    for (let at = 0; at <= text.length; at += 1) {
      const { folded, error } = await translate([text.slice(0, at), text.slice(at)]);
      if (error !== undefined) throw error;
      expect(folded).toEqual(replies[name]);
    }
  });

  it('translates to the same reply in chunks of any size, with other line endings, and without event lines', async () => {
    const variants = [text, text.replaceAll('\n', '\r\n'), text.replace(/^event: .*\n/gm, ''), text.replaceAll('\n\n', '\n\n\n')];
    await assert(
      asyncProperty(array(integer({ min: 0, max: 100_000 }), { maxLength: 40 }), async (positions) => {
        for (const variant of variants) expect((await translate(splitAt(variant, positions))).folded).toEqual(replies[name]);
      }),
      { numRuns: 25 },
    );
  });

  it('starts with the role and ends with the finish reason', async () => {
    const { frames } = await translate([text]);
    const choices = frames.flatMap(({ chunks }) => chunks.flatMap((chunk) => chunk.choices));
    expect(choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(choices.map(({ finish_reason: reason }) => reason !== null)).toEqual([...Array(choices.length - 1).fill(false), true]);
  });

  it('fails for truncation at any byte', async () => {
    for (let at = 0; at < text.length - 2; at += 7) {
      const { error, folded } = await translate([text.slice(0, at)]);
      const isUnanswered = folded.choices.length === 0 && (at === 0 || text.slice(0, at).endsWith('\n\n'));
      expect(error).toMatchObject({ name: 'UpstreamError', kind: isUnanswered ? 'unreachable' : 'broken' });
      expect(folded.choices[0]?.finish_reason ?? null).toBeNull();
    }
  });

  it('is relayed byte for byte with the same counts', async () => {
    for (const chunks of [[text], splitAt(text, [100, 333, 600, 601, 900]), [...text]]) {
      const { frames, error } = await readFrames(chunks, new RelayedEvents());
      expect(error).toBeUndefined();
      expect(frames.map(({ bytes }) => bytes).join('')).toBe(text);
      expect(frames.flatMap(({ native }) => native?.usage ?? []).at(-1)).toEqual(replies[name].usage);
      expect(frames.every(({ native, chunks }) => native?.isCompleteReply === false && chunks.length === 0)).toBe(true);
    }
  });
});

describe('a stream of the Messages dialect', () => {
  it('returns the deltas of one read as few frames of text', async () => {
    const deltas = fixture('text')
      .split('\n\n')
      .filter((event) => event.includes('text_delta'));
    const [start = ''] = fixture('text').split('event: ping');
    const read = `${Array(50).fill(deltas).flat().join('\n\n')}\n\n`;
    const { frames } = await translate([start + deltas[0], `\n\n${read}`]);
    const [first, second, ...texts] = frames;
    expect([first?.textBytes, second?.textBytes]).toEqual([undefined, undefined]);
    expect(texts.every(({ textBytes }) => textBytes !== undefined)).toBe(true);
    // A large read is split into slices of 8 kB.
    expect(texts.length).toBeLessThan(6);
    expect(texts.flatMap(({ chunks }) => chunks)).toHaveLength(200);
  });

  it('fails if the signatures of its thoughts are too long', async () => {
    const [start = ''] = fixture('text').split('event: ping');
    const toEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
    const block = { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: '' } };
    const delta = { type: 'signature_delta', signature: 'x'.repeat(4 * 1024 ** 2) };
    const signature = toEvent({ type: 'content_block_delta', index: 1, delta });
    const { error } = await translate([start + toEvent(block), ...Array(5).fill(signature)]);
    expect(error).toMatchObject({ kind: 'broken', message: expect.stringContaining('characters of reasoning') });
  });

  it("fails with the upstream's error after the text before it", async () => {
    const { folded, error } = await translate([fixture('error-mid-stream')]);
    expect(folded.choices[0]?.message.content).toBe('Half an an');
    expect(error).toMatchObject({ name: 'UpstreamError', kind: 'refused', message: 'Overloaded', status: 503 });
    const relayed = await readFrames([fixture('error-mid-stream')], new RelayedEvents());
    expect(relayed.frames.map(({ bytes }) => bytes).join('')).toBe(fixture('error-mid-stream').split('event: error')[0]);
    expect(relayed.error).toMatchObject({ message: 'Overloaded' });
  });

  it('returns no frames before an immediate error, so that another upstream can be tried', async () => {
    for (const chunks of [[fixture('error-at-once')], splitAt(fixture('error-at-once'), [430, 500])]) {
      expect(await translate(chunks)).toMatchObject({ frames: [], error: { status: 503 } });
      expect(await readFrames(chunks, new RelayedEvents())).toMatchObject({ frames: [], error: { status: 503 } });
    }
  });

  it('fails if its start never ends', async () => {
    const pings = Array.from({ length: 200 }, () => `event: ping\ndata: {"type": "ping", "odd": "${'x'.repeat(10_000)}"}\n\n`);
    expect(await readFrames(pings, new RelayedEvents())).toMatchObject({ frames: [], error: { kind: 'broken' } });
  });

  it('ends at its end mark and ignores later events', async () => {
    const { folded, error } = await translate([fixture('text'), fixture('error-mid-stream')]);
    expect([folded, error]).toEqual([replies.text, undefined]);
  });

  it('may close directly after its end mark', async () => {
    expect(await translate([fixture('text').trimEnd()])).toMatchObject({ error: undefined, folded: replies.text });
  });

  it.each(['data: no JSON\n\n', 'data: 3\n\n', 'data: {"type":"content_block_delta","index":0,"delta":{"text":"a\n\n'])(
    'fails if an event is not a JSON object: %j',
    async (event) => {
      const [start = ''] = fixture('text').split('event: ping');
      const { error } = await translate([start, event]);
      expect(error).toMatchObject({ kind: 'broken', message: 'The upstream sent an event that is not a JSON object.' });
    },
  );

  it.each([
    { type: 'content_block_start' },
    { type: 'content_block_start', index: 0, content_block: 'x' },
    { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking' } },
    { type: 'content_block_delta', index: 77, delta: { type: 'input_json_delta', partial_json: '{' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 7 } },
    { type: 'content_block_delta', index: 0, delta: null },
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: 'x' } },
    { type: 'content_block_stop', index: '__proto__' },
    { type: 'message_start', message: null },
    { type: 'message_start', message: { id: 'another', content: [], usage: { input_tokens: 9999 } } },
    { type: 'message_delta', delta: 'x', usage: 'y' },
    {},
  ])('ignores an event with an unexpected format: %j', async (event) => {
    const [start = '', ...rest] = fixture('text').split('event: ping');
    const { folded, error } = await translate([
      start,
      `data: ${JSON.stringify(event)}\n\n`,
      `event: ping${rest.join('event: ping')}`,
    ]);
    expect(error).toBeUndefined();
    expect(folded.choices[0]?.message.content).toBe('Grüße, 你好 😀: "a\\b"\nBye.');
    expect([folded.id, folded.usage]).toEqual([replies.text.id, replies.text.usage]);
  });

  it('has the finish reason `tool_calls` if it has calls, even if the upstream reports the end of the turn', async () => {
    const text = fixture('tools-parallel').replace('"stop_reason":"tool_use"', '"stop_reason":"end_turn"');
    expect((await translate([text])).folded).toEqual(replies['tools-parallel']);
  });

  it('has an empty object for a call without arguments, for any number of empty deltas', async () => {
    const [before = '', after = ''] = fixture('tools-parallel').split('"index":2,"content_block"');
    const empty = { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '' } };
    const event = `data: ${JSON.stringify(empty)}\n\n`;
    const text = `${before}"index":2,"content_block"${after.replace('\n\n', `\n\n${event.repeat(3)}`)}`;
    expect((await translate([text])).folded).toEqual(replies['tools-parallel']);
  });

  it('limits the text that it stores of a block that never ends', async () => {
    const [start = ''] = fixture('thinking').split('event: content_block_delta');
    const thought = JSON.stringify({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'x'.repeat(2 ** 20) },
    });
    const { error } = await translate([start, ...Array(18).fill(`data: ${thought}\n\n`)]);
    expect(error).toMatchObject({ kind: 'broken' });
    const blocks = Array.from({ length: 10_001 }, (_, index) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'text', text: '' },
    }));
    expect((await translate([start, ...blocks.map((block) => `data: ${JSON.stringify(block)}\n\n`)])).error).toMatchObject({
      kind: 'broken',
    });
  });
});
