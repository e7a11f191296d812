import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectClosedOnDisconnect } from '#test/closed-while-open.ts';
import { RecordedTelemetry } from '#test/recorded-telemetry.ts';
import {
  errorReply,
  eventsReply,
  jsonReply,
  type ScriptedUpstream,
  silence,
  startScriptedUpstream,
  toEvent,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import { sendAndDisconnect, type TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { untilStill } from '#test/until-still.ts';

const telemetry = new RecordedTelemetry();
let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const apis = ['completions', 'images/generations', 'audio/speech', 'audio/transcriptions', 'moderations', 'rerank'];
  const at = (api: unknown) => ({ upstreams: [{ endpoint: upstream.endpoint, model: 'own', api }], maxRetryAttempts: 2 });
  service = await startService(
    {
      models: {
        all: { ...at(apis), pricing: { request: 0.5, prompt: 0.001, completion: 0.002 } },
        both: {
          upstreams: [
            { endpoint: upstream.endpoint, model: 'chats' },
            { endpoint: upstream.endpoint, model: 'completes', api: ['completions'] },
          ],
        },
        tempered: { ...at('completions'), defaults: { temperature: 0.5, model: 'nothing' } },
      },
      keys: {
        [callerKey]: { project: 'test' },
        little: { project: 'little', role: 'few' },
        poor: { project: 'poor', role: 'poor' },
      },
      roles: { few: { limits: { all: { requestDay: 1 } } }, poor: { costLimit: { day: 1.2 } } },
    },
    { telemetry },
  );
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const createOpenAI = () => new OpenAI({ apiKey: callerKey, baseURL: `${service.url}/v1`, maxRetries: 0 });

function post(api: string, body: object, key = callerKey): Promise<TestResponse> {
  return service.sendRequest({ path: `/v1/${api}`, headers: withKey(key), body: { model: 'all', ...body } });
}

const text = (content: string) => ({ choices: [{ index: 0, text: content, finish_reason: null }] });
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const speechRequest = { input: 'Hello.', voice: 'alloy' };

describe('text completions', () => {
  it('return the JSON of the upstream, and send the model name and the defaults of the deployment', async () => {
    upstream.script(jsonReply({ id: 'cmpl-1', ...text('hi'), usage, further: 1 }));
    const { json } = await post('completions', { model: 'tempered', prompt: ['a', 'b'], suffix: null, echo: true });
    expect(json).toEqual({ id: 'cmpl-1', ...text('hi'), usage, further: 1 });
    expect(upstream.requests.at(-1)?.body).toEqual({ temperature: 0.5, model: 'own', prompt: ['a', 'b'], echo: true });
  });

  it('stream to an OpenAI client, and count usage that the client did not request', async () => {
    upstream.script(eventsReply(text('he'), text('llo'), { choices: [], usage }));
    let content = '';
    for await (const chunk of await createOpenAI().completions.create({ model: 'all', prompt: 'hi', stream: true }))
      content += chunk.choices[0]?.text;
    expect(content).toBe('hello');
    expect(upstream.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } });
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'ok', promptTokens: 3, completionTokens: 2 });
  });

  it('return the usage to a client that requests it', async () => {
    upstream.script(eventsReply(text('hi'), { choices: [], usage }));
    const { text: events } = await post('completions', { prompt: 'hi', stream: true, stream_options: { include_usage: true } });
    expect(events).toBe(`${toEvent(text('hi'))}${toEvent({ choices: [], usage })}data: [DONE]\n\n`);
  });

  it('use the upstreams that support them, and chat uses the other upstreams', async () => {
    upstream.script(jsonReply(text('hi')));
    for (let call = 0; call < 4; call += 1) await post('completions', { model: 'both', prompt: 'hi' });
    expect(upstream.requests.slice(-4).map(({ body }) => body.model)).toEqual(Array(4).fill('completes'));
    upstream.script(jsonReply({ choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] }));
    for (let call = 0; call < 4; call += 1) await service.chat('both', { messages: [{ role: 'user', content: 'hi' }] });
    expect(upstream.requests.slice(-4).map(({ body }) => body.model)).toEqual(Array(4).fill('chats'));
  });
});

describe('stream', () => {
  it('of speech ends with its last event and records its tokens', async () => {
    const events = [
      { type: 'speech.audio.delta', audio: 'AAAA' },
      { type: 'speech.audio.done', usage: { input_tokens: 7, output_tokens: 9, total_tokens: 16 } },
    ];
    upstream.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map(toEvent).join(''));
    });
    const { status, text: body } = await post('audio/speech', { ...speechRequest, stream_format: 'sse' });
    expect([status, body]).toEqual([200, events.map(toEvent).join('')]);
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'ok', promptTokens: 7, completionTokens: 9 });
  });

  it('of images contains each image', async () => {
    const picture = { type: 'image_generation.completed', b64_json: 'AAAA' };
    upstream.script(async (exchange: UpstreamExchange) => {
      exchange.head();
      await exchange.events({ type: 'image_generation.partial_image', b64_json: 'AA', partial_image_index: 0 });
      await exchange.events(picture);
      await exchange.events(picture);
      exchange.response.end();
    });
    const types: string[] = [];
    const stream = await createOpenAI().images.generate({ model: 'all', prompt: 'a cat', stream: true });
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(['image_generation.partial_image', picture.type, picture.type]);
  });

  it.each([
    ['without its end event', async (exchange: UpstreamExchange) => exchange.response.end()],
    ['in the middle', (exchange: UpstreamExchange) => exchange.destroyConnection()],
    ['with an error event', (exchange: UpstreamExchange) => exchange.events({ error: { message: 'no more' } })],
  ])('that ends %s is closed with an error', async (_how, breakOff) => {
    upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(text('he'));
      await breakOff(exchange);
    });
    const { text: body } = await post('completions', { prompt: 'hi', stream: true });
    expect(body).toMatch(/^data: \{"choices".*\n\ndata: \{"error":\{.*"code":"upstream_failed".*\}\n\ndata: \[DONE\]\n\n$/s);
  });
});

describe('audio reply', () => {
  it('is returned byte by byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    upstream.script(({ response }) => {
      response.writeHead(200, { 'content-type': 'audio/opus', 'set-cookie': 'a=b' }).end(bytes);
    });
    const answer = await createOpenAI().audio.speech.create({ model: 'all', ...speechRequest });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
    expect(answer.headers.get('content-type')).toBe('audio/opus');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('x-upstream-attempts')).toBe('1');
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'ok', promptTokens: 2, completionTokens: 0 });
  });

  it('is aborted for the client if the upstream aborts it', async () => {
    upstream.script(async (exchange) => {
      exchange.head(200, { 'content-type': 'audio/mpeg' });
      await exchange.bytes('begun');
      exchange.destroyConnection();
    });
    await expect(post('audio/speech', speechRequest)).rejects.toThrow();
  });

  it('is sent at the rate of a slow client', async () => {
    const size = 100 * 1024 ** 2;
    let sent = 0;
    upstream.script(async ({ response }) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      const piece = Buffer.alloc(1024 ** 2, 1);
      while (sent < size) {
        sent += piece.length;
        if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end();
    });
    const answer = await createOpenAI().audio.speech.create({ model: 'all', ...speechRequest });
    await untilStill(() => sent);
    expect(sent).toBeLessThan(24 * 1024 ** 2);
    expect((await answer.arrayBuffer()).byteLength).toBe(size);
  });

  it('is canceled at the upstream if the client disconnects', async () => {
    upstream.script(silence);
    const index = upstream.requests.length;
    const caller = sendAndDisconnect(service.url, {
      path: '/v1/audio/speech',
      headers: withKey(),
      body: { model: 'all', ...speechRequest },
    });
    const received = await upstream.request(index);
    await expectClosedOnDisconnect(received, () => caller.disconnect());
    await telemetry.ended();
    expect(telemetry.ends.at(-1)).toMatchObject({ outcome: 'left', status: 499 });
  });
});

describe('upstream of a pass-through call', () => {
  it.each([
    [400, 400, 'upstream_failed'],
    [401, 500, 'upstream_failed'],
    [422, 400, 'upstream_failed'],
    [503, 503, 'upstream_unavailable'],
  ])('that answers %d causes the status %d', async (from, to) => {
    upstream.script(errorReply(from));
    expect((await post('moderations', { input: 'x' })).status).toBe(to);
  });

  it.each([
    ['HTML', ({ response }: UpstreamExchange) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['an error', jsonReply({ error: { message: 'no' } })],
    ['JSON of another API', jsonReply({ object: 'list' })],
  ])('that answers %s with status 200 causes a 500', async (_what, reply) => {
    upstream.script(reply as Parameters<ScriptedUpstream['script']>[0]);
    expect((await post('rerank', { query: 'a', documents: ['b'] })).status).toBe(500);
  });

  it('that fails is retried', async () => {
    upstream.script(errorReply(503), jsonReply({ results: [{ index: 0, relevance_score: 1 }] }));
    const { status, headers } = await post('rerank', { query: 'a', documents: ['b'] });
    expect([status, headers['x-upstream-attempts']]).toEqual([200, '2']);
  });
});

describe('limits', () => {
  it('count a pass-through call like a chat', async () => {
    upstream.script(jsonReply({ results: [] }));
    expect((await post('moderations', { input: 'x' }, 'little')).status).toBe(200);
    const { status, error, headers } = await post('moderations', { input: 'x' }, 'little');
    expect([status, error.code]).toEqual([429, 'request_limit_exceeded']);
    expect(headers['retry-after']).toBeDefined();
  });

  it('of cost apply the price for each request', async () => {
    upstream.script(jsonReply({ results: [] }));
    const statuses: number[] = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await post('moderations', { input: 'x' }, 'poor')).status);
    expect(statuses.at(-1)).toBe(429);
  });
});

it.each([
  ['completions', {}, 'prompt'],
  ['completions', { prompt: 5 }, 'prompt'],
  ['completions', { prompt: 'a', stream: 'yes' }, 'stream'],
  ['completions', { prompt: 'a', n: 0 }, 'n'],
  ['completions', { Prompt: 'a' }, 'Prompt'],
  ['moderations', { input: null }, 'input'],
  ['images/generations', { prompt: '' }, 'prompt'],
  ['audio/speech', { input: 'a' }, 'voice'],
  ['rerank', { query: 'a', documents: [] }, 'documents'],
  ['rerank', { query: 'a', documents: ['b'], top_n: 0 }, 'top_n'],
])('%s with the body %o is rejected', async (api, body, param) => {
  const before = upstream.requests.length;
  const { status, error } = await post(api, body);
  expect([status, error.param]).toEqual([400, param]);
  expect(upstream.requests.length).toBe(before);
});
