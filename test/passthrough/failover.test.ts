import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { formType, type Part, type RawUpstream, readForm, sendJson, sound, startRawUpstream, toForm } from './support.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

let failing: Answer;
let working: Answer;
let first: RawUpstream;
let second: RawUpstream;
let service: TestService;

beforeAll(async () => {
  first = await startRawUpstream((request, response) => failing(request, response));
  second = await startRawUpstream((request, response) => working(request, response));
  const api = ['rerank', 'completions', 'audio/speech', 'audio/transcriptions'];
  const next = { endpoint: second.endpoint, key: 'second-key', model: 'second', api, tier: 1 };
  service = await startService({
    models: {
      two: { upstreams: [{ endpoint: first.endpoint, key: 'first-key', model: 'first', api }, next] },
      gone: { upstreams: [{ endpoint: `http://127.0.0.1:${await findFreePort()}/v1`, model: 'first', api }, next] },
    },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const post = (api: string, body: object): Promise<TestResponse> =>
  service.sendRequest({ path: `/v1/${api}`, headers: withKey(), body: { model: 'two', ...body } });

function sendForm(model: string, file: Part): Promise<TestResponse> {
  const form = toForm({ name: 'model', value: model }, file, { name: 'prompt', value: 'A name' });
  const headers = { 'api-key': callerKey, 'content-type': formType };
  return service.sendRequest({ path: '/v1/audio/transcriptions', headers, body: form });
}

/** Returns an error before or after it reads the request. */
const createRejection =
  (status: number, isEarly = false): Answer =>
  async (request, response) => {
    if (!isEarly) await text(request);
    sendJson(response, { error: { message: 'not now' } }, status);
  };

/** Returns the request body and the key in a form that all tested APIs accept. */
const echoRequest: Answer = async (request, response) => {
  const body = JSON.parse(await text(request)) as unknown;
  sendJson(response, { results: [], choices: [], sent: body, key: request.headers.authorization });
};

const echoForm: Answer = async (request, response) => {
  const form = await readForm(request);
  const file = form.get('file') as File;
  sendJson(response, {
    ...{ text: 'heard', model: form.get('model'), prompt: form.get('prompt'), key: request.headers.authorization },
    ...{ bytes: Buffer.from(await file.arrayBuffer()).toString('latin1') },
  });
};

const large: Part = { ...sound, value: Buffer.alloc(3 * 1024 ** 2, 'sound ') };

describe.each([429, 502, 503, 504])('pass-through call whose first upstream answers %i', (status) => {
  it('sends JSON to the second upstream with the model name and the key of that upstream', async () => {
    [failing, working] = [createRejection(status), echoRequest];
    const body = { query: 'a', documents: ['b'] };
    const { json, headers } = await post('rerank', body);
    expect(json).toMatchObject({ sent: { model: 'second', ...body }, key: 'Bearer second-key' });
    expect(headers['x-upstream-attempts']).toBe('2');
  });

  it('sends a buffered form to the second upstream, byte by byte', async () => {
    [failing, working] = [createRejection(status), echoForm];
    const file: Part = { ...sound, value: Buffer.alloc(500_000, 'sound ') };
    const { json, headers } = await sendForm('two', file);
    const expected = { model: 'second', prompt: 'A name', key: 'Bearer second-key', bytes: file.value.toString('latin1') };
    expect(json).toMatchObject(expected);
    expect(headers['x-upstream-attempts']).toBe('2');
  });

  it.each([false, true])('does not resend a form that is being streamed (first upstream answers early: %s)', async (isEarly) => {
    [failing, working] = [createRejection(status, isEarly), echoForm];
    const before = second.requestCount;
    const { headers, error } = await sendForm('two', large);
    expect([headers['x-upstream-attempts'], error.code]).toEqual([
      '1',
      status === 429 ? 'upstream_rate_limited' : 'upstream_unavailable',
    ]);
    expect(second.requestCount).toBe(before);
  });
});

describe('pass-through call whose first upstream is unreachable', () => {
  it.each([
    ['small', { ...sound, value: 'RIFF' }],
    ['large', large],
  ])('sends a complete %s form to the second upstream', async (_size, file) => {
    working = echoForm;
    const { status, json, headers } = await sendForm('gone', file);
    expect([status, headers['x-upstream-attempts']]).toEqual([200, '2']);
    expect(json).toMatchObject({ model: 'second', bytes: file.value.toString('latin1') });
  });

  it('returns JSON, audio, and streams from the second upstream', async () => {
    working = echoRequest;
    expect((await post('rerank', { model: 'gone', query: 'a', documents: ['b'] })).status).toBe(200);
    working = (_request, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound');
    expect((await post('audio/speech', { model: 'gone', input: 'a', voice: 'b' })).text).toBe('sound');
    working = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"choices":[]}\n\ndata: [DONE]\n\n');
    expect((await post('completions', { model: 'gone', prompt: 'a', stream: true })).text).toContain('{"choices":[]}');
  });
});

it('an upstream that resets before it answers is replaced, but not one that aborts its answer', async () => {
  [failing, working] = [(request) => void request.socket.resetAndDestroy(), echoRequest];
  expect((await post('rerank', { query: 'a', documents: ['b'] })).headers['x-upstream-attempts']).toBe('2');
  failing = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[{"text":"a"}]}\n\n');
    setImmediate(() => response.destroy());
  };
  service.forgetFailures();
  const before = second.requestCount;
  expect((await post('completions', { prompt: 'a', stream: true })).text).toContain('"code":"upstream_failed"');
  expect(second.requestCount).toBe(before);
});

it.each([400, 401, 413, 422, 500])('an upstream that answers %i is not followed by another', async (status) => {
  [failing, working] = [createRejection(status), echoRequest];
  const before = second.requestCount;
  const { headers } = await post('rerank', { query: 'a', documents: ['b'] });
  expect([headers['x-upstream-attempts'], second.requestCount]).toEqual(['1', before]);
});

it('a rate-limited upstream is skipped by the next call', async () => {
  [failing, working] = [createRejection(429), echoRequest];
  await post('rerank', { query: 'a', documents: ['b'] });
  const { headers } = await post('rerank', { query: 'a', documents: ['b'] });
  expect(headers['x-upstream-attempts']).toBe('1');
});
