import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#test/listening.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { formType, type Part, type RawUpstream, readForm, sendJson, sound, startRawUpstream, toForm } from './support.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

let failing: Answer;
let answering: Answer;
let first: RawUpstream;
let second: RawUpstream;
let service: TestService;

beforeAll(async () => {
  first = await startRawUpstream((request, response) => failing(request, response));
  second = await startRawUpstream((request, response) => answering(request, response));
  const api = ['rerank', 'completions', 'audio/speech', 'audio/transcriptions'];
  const next = { endpoint: second.endpoint, key: 'second-key', model: 'second', api, tier: 1 };
  service = await startService({
    models: {
      two: { upstreams: [{ endpoint: first.endpoint, key: 'first-key', model: 'first', api }, next] },
      gone: { upstreams: [{ endpoint: `http://127.0.0.1:${await freePort()}/v1`, model: 'first', api }, next] },
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

/** Refuses before, or after, the request has come. */
const refuses =
  (status: number, isEarly = false): Answer =>
  async (request, response) => {
    if (!isEarly) await text(request);
    sendJson(response, { error: { message: 'not now' } }, status);
  };

/** Says what it was sent, in a form that every one of the APIs answers in. */
const tells: Answer = async (request, response) => {
  const body = JSON.parse(await text(request)) as unknown;
  sendJson(response, { results: [], choices: [], sent: body, key: request.headers.authorization });
};

const tellsForm: Answer = async (request, response) => {
  const form = await readForm(request);
  const file = form.get('file') as File;
  sendJson(response, {
    ...{ text: 'heard', model: form.get('model'), prompt: form.get('prompt'), key: request.headers.authorization },
    ...{ bytes: Buffer.from(await file.arrayBuffer()).toString('latin1') },
  });
};

const large: Part = { ...sound, value: Buffer.alloc(3 * 1024 ** 2, 'sound ') };

describe.each([429, 502, 503, 504])('where the first upstream answers %i', (status) => {
  it('JSON goes to the second, with the name and the key that it has there', async () => {
    [failing, answering] = [refuses(status), tells];
    const body = { query: 'a', documents: ['b'] };
    const { json, headers } = await post('rerank', body);
    expect(json).toMatchObject({ sent: { model: 'second', ...body }, key: 'Bearer second-key' });
    expect(headers['x-upstream-attempts']).toBe('2');
  });

  it('a form that is held goes to the second, byte for byte', async () => {
    [failing, answering] = [refuses(status), tellsForm];
    const file: Part = { ...sound, value: Buffer.alloc(500_000, 'sound ') };
    const { json, headers } = await sendForm('two', file);
    const told = { model: 'second', prompt: 'A name', key: 'Bearer second-key', bytes: file.value.toString('latin1') };
    expect(json).toMatchObject(told);
    expect(headers['x-upstream-attempts']).toBe('2');
  });

  it.each([false, true])('a form that is on its way is not sent again, whether or not the first read it: %s', async (isEarly) => {
    [failing, answering] = [refuses(status, isEarly), tellsForm];
    const before = second.asked;
    const { headers, error } = await sendForm('two', large);
    expect([headers['x-upstream-attempts'], error.code]).toEqual([
      '1',
      status === 429 ? 'upstream_rate_limited' : 'upstream_unavailable',
    ]);
    expect(second.asked).toBe(before);
  });
});

describe('where the first upstream is gone', () => {
  it.each([
    ['small', { ...sound, value: 'RIFF' }],
    ['large', large],
  ])('a %s form goes to the second as a whole', async (_size, file) => {
    answering = tellsForm;
    const { status, json, headers } = await sendForm('gone', file);
    expect([status, headers['x-upstream-attempts']]).toEqual([200, '2']);
    expect(json).toMatchObject({ model: 'second', bytes: file.value.toString('latin1') });
  });

  it('JSON, sound and streams come from the second', async () => {
    answering = tells;
    expect((await post('rerank', { model: 'gone', query: 'a', documents: ['b'] })).status).toBe(200);
    answering = (_request, response) => void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('sound');
    expect((await post('audio/speech', { model: 'gone', input: 'a', voice: 'b' })).text).toBe('sound');
    answering = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"choices":[]}\n\ndata: [DONE]\n\n');
    expect((await post('completions', { model: 'gone', prompt: 'a', stream: true })).text).toContain('{"choices":[]}');
  });
});

it('an upstream that resets before it answers gives way; one that broke off its answer does not', async () => {
  [failing, answering] = [(request) => void request.socket.resetAndDestroy(), tells];
  expect((await post('rerank', { query: 'a', documents: ['b'] })).headers['x-upstream-attempts']).toBe('2');
  failing = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[{"text":"a"}]}\n\n');
    setImmediate(() => response.destroy());
  };
  service.forgetFailures();
  const before = second.asked;
  expect((await post('completions', { prompt: 'a', stream: true })).text).toContain('"code":"upstream_failed"');
  expect(second.asked).toBe(before);
});

it.each([400, 401, 413, 422, 500])('an upstream that answers %i is the last', async (status) => {
  [failing, answering] = [refuses(status), tells];
  const before = second.asked;
  const { headers } = await post('rerank', { query: 'a', documents: ['b'] });
  expect([headers['x-upstream-attempts'], second.asked]).toEqual(['1', before]);
});

it('an upstream that is rate limited is passed over by the next call', async () => {
  [failing, answering] = [refuses(429), tells];
  await post('rerank', { query: 'a', documents: ['b'] });
  const { headers } = await post('rerank', { query: 'a', documents: ['b'] });
  expect(headers['x-upstream-attempts']).toBe('1');
});
