import '#test/same-cases.ts';
import { array, assert, asyncProperty, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrames } from '#test/streamed-reply.ts';
import { ChatEvents, embeddingsDialect } from './read-reply.ts';

it('accepts embeddings with millions of numbers', () => {
  const embedding = Array.from({ length: 1000 }, () => 0.1);
  const data = Array.from({ length: 2000 }, (_, index) => ({ index, embedding }));
  const reply = embeddingsDialect.readComplete(JSON.stringify({ data }), {});
  expect(reply.data).toHaveLength(2000);
});

async function read(chunks: readonly string[]): Promise<{ bytes: string; error: unknown }> {
  const { frames, error } = await readFrames(chunks, new ChatEvents());
  return { bytes: frames.map((frame) => frame.bytes).join(''), error };
}

function splitAt(text: string, positions: readonly number[]): string[] {
  const sorted = [...new Set(positions.map((position) => position % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => text.slice(start, sorted[index] ?? text.length));
}

const one = 'data: {"choices":[{"index":0,"delta":{"content":"\u00c3\u00a9"}}]}\n\n';
const two = 'data: {"choices":[{"index":0,"delta":{"content":"say [DONE] or \\"error\\""}}]}\n\n';
const end = 'data: [DONE]\n\n';

describe('a streamed chat reply', () => {
  it('returns the bytes of the events before the end mark', async () => {
    expect(await read([one + two, end])).toEqual({ bytes: one + two, error: undefined });
  });

  it('ignores additional empty lines', async () => {
    expect(await read([`${one}\n`, end])).toEqual({ bytes: one, error: undefined });
    expect(await read([`${one}\n\n\n${two}`, end])).toEqual({ bytes: one + two, error: undefined });
  });

  it('gives the same result for every split of the bytes', async () => {
    const text = `: hi\n\n${one}${two}event: x\r\n${one}${end}`;
    await assert(
      asyncProperty(array(integer({ min: 0, max: 1000 })), async (positions) => {
        expect(await read(splitAt(text, positions))).toEqual({ bytes: one + two + one, error: undefined });
      }),
    );
  });

  it.each(['data:[DONE]\n\n', 'data: [DONE]\n', 'data: [DONE] \r\n\r\n', `data: [DONE]\n\n${one}`])(
    'accepts %j as the end',
    async (mark) => {
      expect(await read([one, `${mark}\n`])).toEqual({ bytes: one, error: undefined });
    },
  );

  it.each([[''], ['data: {"a'], ['data: [DONE']])('fails if the connection closes after %j', async (rest) => {
    const { error } = await read([one, rest]);
    expect(error).toMatchObject({
      name: 'UpstreamError',
      kind: 'broken',
      message: 'The upstream ended its reply before it was complete.',
    });
  });

  it('throws an error event after the events before it', async () => {
    const errorEvent = 'data: {"error":{"message":"too long","code":"context_length_exceeded","param":"messages"}}\n\n';
    const { bytes, error } = await read([one + errorEvent + two + end]);
    expect(bytes).toBe(one);
    expect(error).toMatchObject({ kind: 'refused', message: 'too long', code: 'context_length_exceeded', param: 'messages' });
  });

  it.each([
    { error: { code: 502, message: 'gone' }, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] },
    { error: { message: 'gone' }, choices: [] },
    { error: 'gone', choices: [] },
  ])('detects an error regardless of the other fields, %j', async (event) => {
    const { bytes, error } = await read([`${one}data: ${JSON.stringify(event)}\n\n`, end]);
    expect(bytes).toBe(one);
    expect(error).toMatchObject({ kind: 'refused', message: 'gone' });
  });

  it('does not use events with further fields as a pattern, in any format', async () => {
    const chunkFields = { id: 'r', object: 'chat.completion.chunk', created: 1 };
    const createEvent = (fields: object) =>
      `data: ${JSON.stringify({ ...chunkFields, choices: [{ index: 0, delta: { content: 'a' } }], ...fields })}\n\n`;
    const spacedEvent = createEvent({ usage: { prompt_tokens: 1 } }).replace('"usage":', '"usage" : ');
    const { frames } = await readFrames([spacedEvent + spacedEvent + spacedEvent, end], new ChatEvents());
    expect(frames.map(({ textBytes }) => textBytes)).toEqual([undefined, undefined, undefined]);
  });

  it('reads an error event whose code is a status', async () => {
    const { error } = await read(['data: {"error":{"message":"busy","code":529}}\n\n']);
    expect(error).toMatchObject({ status: 529, code: null });
  });

  it.each(['{bad', '"text"', '[]', '1'])('fails for an event of %j, after the events before it', async (data) => {
    const { bytes, error } = await read([`${one}data: ${data}\n\n`, two + end]);
    expect(bytes).toBe(one);
    expect(error).toMatchObject({ kind: 'broken', message: 'The upstream sent an event that is not a JSON object.' });
  });

  it('ignores events without data', async () => {
    expect(await read([`${one}data: \n\ndata:\n\nid: 4\n\n`, two + end])).toEqual({ bytes: one + two, error: undefined });
  });

  it('joins several data lines into one line if it rewrites an event', async () => {
    expect(await read([': hi\n\ndata: {"choices":\ndata: []}\n\n', end])).toEqual({
      bytes: 'data: {"choices": []}\n\n',
      error: undefined,
    });
  });

  it('allows half a second for the rest of the reply after the end mark, so that the connection can be reused', async () => {
    const { frames, error, endsWithinMs } = await readFrames([one + end], new ChatEvents(), { staysOpen: true });
    expect(frames).toHaveLength(1);
    expect(error).toBeUndefined();
    expect(endsWithinMs).toBe(500);
  });
});
