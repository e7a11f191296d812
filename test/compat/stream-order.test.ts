import { describe, expect, it } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { chunk, delta, finish, hello, plainCompletion, plainReply, text, usage } from '#test/chunks.ts';
import type { StreamContent } from '#test/read-events.ts';
import { eventsReply, jsonReply, piecesReply, toEvent } from '#test/scripted-upstream.ts';
import { startModel } from '#test/start-model.ts';

const { upstream, service } = await startModel();

async function stream(...values: unknown[]): Promise<StreamContent> {
  upstream.script(eventsReply(...values));
  const reader = await service.stream('m', { messages: hello });
  expect(reader.status).toBe(200);
  return reader.readRest();
}

const createStatistics = (prompt: number, completion: number) => ({
  usage_per_model: [
    { index: 0, model: 'm', name: 'm', prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  ],
});

describe('stream', () => {
  it('has headers that prevent buffering by proxies', async () => {
    upstream.script(eventsReply(...plainReply('hi')));
    const reader = await service.stream('m', { messages: hello });
    expect(reader.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers['cache-control']).toContain('no-cache');
    expect(reader.headers['x-accel-buffering']).toBe('no');
    expect(reader.headers).not.toHaveProperty('content-length');
    expect((await reader.readRest()).isDone).toBe(true);
  });

  it('starts with a role and ends with a finish reason, a chunk with usage and statistics, and [DONE]', async () => {
    const { chunks, isDone, usages, content } = await stream(...plainReply('Hel', 'lo'));
    expect(isDone).toBe(true);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(content()).toBe('Hello');
    const [finished, counted] = chunks.slice(-2);
    expect(finished?.choices).toMatchObject([{ index: 0, finish_reason: 'stop' }]);
    expect(usages).toHaveLength(1);
    expect(counted).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      statistics: createStatistics(7, 5),
    });
    for (const { id, object, created } of chunks)
      expect([id, object, created]).toEqual(['chatcmpl-upstream', 'chat.completion.chunk', 1_700_000_000]);
  });

  it('has a role even if the upstream sends none', async () => {
    const { chunks, content } = await stream(text('Hello'), finish(), usage(1, 1));
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(content()).toBe('Hello');
  });

  it('keeps chunks before the first choice, and sends the role of every choice first', async () => {
    const { chunks, content } = await stream(chunk({ prompt_filter_results: [{ prompt_index: 0 }] }), text('hi'), finish());
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.find((each) => each.prompt_filter_results)?.prompt_filter_results).toEqual([{ prompt_index: 0 }]);
    expect(chunks.find(({ choices }) => choices.length > 0)?.choices[0]?.delta.role).toBe('assistant');
    expect(content()).toBe('hi');
  });

  it('has a finish reason even if the upstream sends none', async () => {
    const { chunks } = await stream(delta({ role: 'assistant', content: 'hi' }), usage(1, 1));
    expect(chunks.at(-2)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  });

  it('has one finish reason for each choice, even if the upstream repeats it', async () => {
    const { chunks } = await stream(delta({ role: 'assistant', content: 'hi' }), finish('length'), finish('stop'), usage(1, 1));
    const reasons = chunks
      .flatMap(({ choices }) => choices.map((choice) => choice.finish_reason))
      .filter((reason) => reason !== null);
    expect(reasons).toEqual(['length']);
  });

  it('has a finish reason for each of two choices', async () => {
    const second = [delta({ role: 'assistant', content: 'two' }, 1), finish('length', 1)];
    upstream.script(eventsReply(delta({ role: 'assistant', content: 'one' }), ...second, finish('stop', 0), usage(2, 2)));
    const reader = await service.stream('m', { messages: hello, n: 2 });
    const { chunks, content } = await reader.readRest();
    expect(upstream.requests.at(-1)?.body.n).toBe(2);
    expect([content(0), content(1)]).toEqual(['one', 'two']);
    const finished = chunks.flatMap(({ choices }) => choices.filter(({ finish_reason: reason }) => reason !== null));
    expect(finished.map(({ index, finish_reason: reason }) => [index, reason])).toEqual([
      [1, 'length'],
      [0, 'stop'],
    ]);
  });

  it('has one usage with the last values, from any chunk', async () => {
    const counted = (prompt: number, completion: number): Partial<Chunk> => ({
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    });
    const early = chunk({
      choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
      ...counted(3, 0),
    });
    const last = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...counted(3, 9) });
    const { usages, chunks, content } = await stream(early, last);
    expect(usages).toEqual([{ prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 }]);
    expect(content()).toBe('hi');
    expect(chunks.at(-1)?.statistics).toEqual(createStatistics(3, 9));
  });

  it('omits null usage and adds no other fields', async () => {
    const withNull = plainReply('hi').map((each) => ({ usage: null, ...each }));
    const { chunks, usages, data } = await stream(...withNull);
    expect(usages).toHaveLength(1);
    expect(chunks.filter((each) => 'usage' in each && each.usage !== null)).toHaveLength(1);
    expect(data[1]).toBe(JSON.stringify(withNull[1]));
  });

  it('corrects a total that is not the sum, and keeps other usage fields', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 2 } };
    const unusualChunk = chunk({ usage: { prompt_tokens: 4, completion_tokens: 6, total_tokens: 99, ...details } });
    const { usages } = await stream(delta({ role: 'assistant', content: 'hi' }), finish(), unusualChunk);
    expect(usages).toEqual([{ prompt_tokens: 4, completion_tokens: 6, total_tokens: 10, ...details }]);
  });

  it('has counts marked as estimated if the upstream reports none', async () => {
    const { chunks, usages } = await stream(delta({ role: 'assistant', content: 'four' }), text(' words in a reply'), finish());
    expect(usages).toHaveLength(1);
    const [item] = chunks.at(-1)?.statistics?.usage_per_model ?? [];
    expect(item).toMatchObject({ index: 0, model: 'm', name: 'm', estimated: true });
    expect(item?.prompt_tokens).toBeGreaterThan(0);
    expect(item?.completion_tokens).toBeGreaterThan(0);
    expect(item?.total_tokens).toBe((item?.prompt_tokens ?? 0) + (item?.completion_tokens ?? 0));
    expect(usages[0]).toEqual({
      prompt_tokens: item?.prompt_tokens,
      completion_tokens: item?.completion_tokens,
      total_tokens: item?.total_tokens,
    });
  });

  it('relays unchanged chunks byte by byte', async () => {
    const unusualChunk =
      '{"id":"r","object":"chat.completion.chunk","created":1,"model":"up", "choices":[{"index":0 , "delta":{"content":"\\u00e9 é 😀"},"finish_reason":null,"x":[1.0,1e3]}],"y":{"usage":1}}';
    upstream.script(
      piecesReply(
        toEvent(delta({ role: 'assistant', content: '' })),
        `data: ${unusualChunk}\n\n`,
        toEvent(finish()),
        'data: [DONE]\n\n',
      ),
    );
    const reader = await service.stream('m', { messages: hello });
    const { data } = await reader.readRest();
    expect(data).toContain(unusualChunk);
  });

  it('keeps text that contains usage, finish_reason, or an end mark', async () => {
    const tricky = 'say "usage": 1, "finish_reason":"stop" and \n\ndata: [DONE]';
    const { content, isDone, chunks } = await stream(
      delta({ role: 'assistant', content: '' }),
      text(tricky),
      finish(),
      usage(1, 1),
    );
    expect(content()).toBe(tricky);
    expect(isDone).toBe(true);
    expect(chunks).toHaveLength(4);
  });
});

describe('reply in another format than requested', () => {
  it('is streamed if the upstream answers a stream request with JSON', async () => {
    upstream.script(jsonReply(plainCompletion('All at once.')));
    const reader = await service.stream('m', { messages: hello });
    const { chunks, content, isDone, usages } = await reader.readRest();
    expect(reader.headers['content-type']).toContain('text/event-stream');
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(content()).toBe('All at once.');
    expect(usages).toHaveLength(1);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], statistics: createStatistics(7, 5) });
    expect(isDone).toBe(true);
  });

  it('is folded if the upstream streams without a request', async () => {
    upstream.script(eventsReply(...plainReply('Piece ', 'by piece.')));
    const answer = await service.chat('m', { messages: hello });
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.completion).toMatchObject({
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Piece by piece.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      statistics: createStatistics(7, 5),
    });
  });
});

describe('JSON answer', () => {
  it('has usage and statistics, and keeps other fields of the upstream', async () => {
    upstream.script(jsonReply(plainCompletion('hi', { system_fingerprint: 'fp', service_tier: 'x' })));
    const { json } = await service.chat('m', { messages: hello });
    expect(json).toEqual({
      ...plainCompletion('hi'),
      system_fingerprint: 'fp',
      service_tier: 'x',
      statistics: createStatistics(7, 5),
    });
  });

  it('has estimated counts if the upstream reports none', async () => {
    for (const usageField of [undefined, null]) {
      upstream.script(jsonReply(plainCompletion('some reply', { usage: usageField })));
      const { completion } = await service.chat('m', { messages: hello });
      expect(completion.statistics?.usage_per_model).toMatchObject([{ model: 'm', estimated: true }]);
      expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    }
  });
});
