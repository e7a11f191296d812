import { describe, expect, it } from 'vitest';
import type { Chunk } from '#contract/chat/chunk.ts';
import { chunk, delta, finish, hello, plainReply, text, usage } from '#test/chunks.ts';
import type { StreamContent } from '#test/read-events.ts';
import { errorReply, eventsReply, piecesReply, toEvent } from '#test/scripted-upstream.ts';
import { openStream } from '#test/send-request.ts';
import { startModel } from '#test/start-model.ts';
import { withKey } from '#test/start-service.ts';

const { upstream, service } = await startModel();
const openAiPaths = ['/v1/chat/completions', '/openai/v1/chat/completions', '/openai/v1/deployments/m/chat/completions'];
const deploymentPaths = [
  '/compat/deployments/m/chat/completions/2024-10-21',
  '/openai/deployments/m/chat/completions?api-version=preview',
];

async function stream(path: string, values: readonly unknown[], more: object = {}): Promise<StreamContent> {
  upstream.script(eventsReply(...values));
  const body = { model: 'm', messages: hello, stream: true, ...more };
  const reader = await openStream(service.url, { path, headers: withKey(), body });
  expect(reader.status).toBe(200);
  return reader.readRest();
}

const findChunksWithoutChoices = ({ chunks }: StreamContent): Chunk[] => chunks.filter(({ choices }) => choices.length === 0);
const wantsUsage = { stream_options: { include_usage: true } };

/** Returns the positions of the chunks with usage or statistics. */
const findUsage = ({ chunks }: StreamContent): unknown[] =>
  chunks.flatMap(({ usage: used, statistics }, index) =>
    used || statistics ? [[index, Boolean(used), Boolean(statistics)]] : [],
  );

describe.each(openAiPaths)('stream on %s', (path) => {
  it('has a final chunk with an empty choice for usage and statistics', async () => {
    for (const more of [{}, { stream_options: null }, { stream_options: {} }, { stream_options: { include_usage: false } }]) {
      const streamed = await stream(path, plainReply('Hel', 'lo'), more);
      expect(findChunksWithoutChoices(streamed)).toEqual([]);
      expect(streamed.content()).toBe('Hello');
      expect(streamed.isDone).toBe(true);
      const last = streamed.chunks.length - 1;
      expect(findUsage(streamed)).toEqual([[last, true, true]]);
      expect(streamed.chunks.at(-2)?.choices).toMatchObject([{ index: 0, finish_reason: 'stop' }]);
      expect(streamed.chunks.at(-1)).toMatchObject({
        choices: [{ index: 0, delta: {}, finish_reason: null }],
        usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
        statistics: { usage_per_model: [{ model: 'm', total_tokens: 12 }] },
      });
    }
  });

  it('has usage and statistics in a final chunk without choices if usage is requested', async () => {
    const streamed = await stream(path, plainReply('hi'), wantsUsage);
    expect(findChunksWithoutChoices(streamed)).toHaveLength(1);
    expect(findUsage(streamed)).toEqual([[streamed.chunks.length - 1, true, true]]);
    expect(streamed.chunks.at(-2)?.choices).toMatchObject([{ finish_reason: 'stop' }]);
  });

  it('moves data of chunks without choices to adjacent chunks', async () => {
    const filters = [{ prompt_index: 0, content_filter_results: {} }];
    const early = chunk({ id: '', created: 0, prompt_filter_results: filters });
    const late = chunk({ afterwards: 1 });
    const between = chunk({ between: [2] });
    const streamed = await stream(path, [early, delta({ role: 'assistant', content: '' }), between, text('hi'), finish(), late]);
    expect(findChunksWithoutChoices(streamed)).toEqual([]);
    expect(streamed.content()).toBe('hi');
    const movedFields = streamed.chunks.map(({ prompt_filter_results, between: b, afterwards }) => [
      prompt_filter_results,
      b,
      afterwards,
    ]);
    expect(movedFields.flat().filter((each) => each !== undefined)).toEqual([filters, [2], 1]);
    expect(streamed.chunks.at(-1)).toMatchObject({ afterwards: 1, usage: expect.any(Object), statistics: expect.any(Object) });
  });
});

describe.each(deploymentPaths)('stream on %s', (path) => {
  it.each([{}, wantsUsage, { stream_options: { include_usage: false } }])(
    'ends with usage and statistics in a chunk without choices, with %j',
    async (more) => {
      const streamed = await stream(path, plainReply('hi'), more);
      expect(findChunksWithoutChoices(streamed)).toHaveLength(1);
      expect(findUsage(streamed)).toEqual([[streamed.chunks.length - 1, true, true]]);
    },
  );
});

describe('stream on /v1', () => {
  const path = '/v1/chat/completions';

  it('sends the usage after the end of all choices', async () => {
    const role = (index: number) => delta({ role: 'assistant', content: '' }, index);
    const values = [role(0), text('a'), finish('stop', 0), role(1), text('b', 1), text('c', 1), finish('length', 1), usage(2, 3)];
    const streamed = await stream(path, values, { n: 2 });
    expect(findChunksWithoutChoices(streamed)).toEqual([]);
    expect([streamed.content(0), streamed.content(1)]).toEqual(['a', 'bc']);
    expect(findUsage(streamed)).toEqual([[streamed.chunks.length - 1, true, true]]);
    expect(streamed.chunks.at(-2)?.choices).toMatchObject([{ index: 1, finish_reason: 'length' }]);
    expect(streamed.chunks.at(-1)?.choices).toEqual([{ index: 1, delta: {}, finish_reason: null }]);
  });

  it('sends data that follows the end of a choice in order, before the usage', async () => {
    const values = [delta({ role: 'assistant', content: 'a' }), text('b'), finish(), text('c'), text('d'), usage(1, 1)];
    const streamed = await stream(path, values);
    expect(findChunksWithoutChoices(streamed)).toEqual([]);
    expect(streamed.content()).toBe('abcd');
    expect(findUsage(streamed)).toEqual([[streamed.chunks.length - 1, true, true]]);
  });

  it('has a finish reason before the usage if the upstream omits it', async () => {
    const streamed = await stream(path, [delta({ role: 'assistant', content: 'hi' })]);
    expect(streamed.chunks.at(-2)?.choices).toMatchObject([{ finish_reason: 'stop' }]);
    expect(streamed.chunks.at(-1)?.usage).toMatchObject({ total_tokens: expect.any(Number) });
    expect(findChunksWithoutChoices(streamed)).toEqual([]);
  });

  it('sends a reply in a single event followed by the usage', async () => {
    const completeReply = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] });
    const streamed = await stream(path, [completeReply]);
    expect(streamed.chunks).toHaveLength(2);
    expect(streamed.chunks[0]).toEqual(completeReply);
    expect(findUsage(streamed)).toEqual([[1, true, true]]);
  });

  it('sends chunks without delay', async () => {
    const seen = Promise.withResolvers<string>();
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: '' }), text('now'));
      expect(await seen.promise).toContain('now');
      await exchange.events(finish(), usage(1, 1));
      exchange.done();
    });
    const body = { model: 'm', messages: hello, stream: true };
    const reader = await openStream(service.url, { path, headers: withKey(), body });
    seen.resolve([await reader.next(), await reader.next()].join(' '));
    expect(await seen.promise).toContain('now');
    expect((await reader.readRest()).isDone).toBe(true);
  });

  it('relays unchanged chunks byte by byte', async () => {
    const unusualChunk =
      '{"id":"r","object":"chat.completion.chunk","created":1,"model":"up", "choices":[{"index":0 , "delta":{"content":"\\u00e9 é"},"finish_reason":null,"x":[1.0,1e3]}]}';
    upstream.script(
      piecesReply(
        toEvent(delta({ role: 'assistant', content: '' })),
        `data: ${unusualChunk}\n\n`,
        toEvent(finish()),
        'data: [DONE]\n\n',
      ),
    );
    const body = { model: 'm', messages: hello, stream: true };
    const reader = await openStream(service.url, { path, headers: withKey(), body });
    expect((await reader.readRest()).data).toContain(unusualChunk);
  });

  it('sends the finish reason before an error', async () => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'hi' }), finish());
      exchange.destroyConnection();
    });
    const body = { model: 'm', messages: hello, stream: true };
    const reader = await openStream(service.url, { path, headers: withKey(), body });
    const { chunks, error, isDone } = await reader.readRest();
    expect(chunks.at(-1)?.choices).toMatchObject([{ finish_reason: 'stop' }]);
    expect([error?.code, isDone]).toEqual(['upstream_failed', true]);
  });

  it('fails for too many chunks without choices', async () => {
    const flood = Array.from({ length: 40 }, (_, index) => chunk({ [`key${index}`]: 'x'.repeat(40_000) }));
    const streamed = await stream(path, [delta({ role: 'assistant', content: 'hi' }), finish(), ...flood]);
    expect([streamed.error?.code, streamed.isDone]).toEqual(['upstream_failed', true]);
  });

  it('is answered with the status of an upstream rejection', async () => {
    upstream.script(errorReply(400));
    const body = { model: 'm', messages: hello, stream: true };
    expect((await service.sendRequest({ path, headers: withKey(), body })).status).toBe(400);
  });
});
