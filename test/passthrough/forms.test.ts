import { type ClientRequest, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { untilStill } from '#test/until-still.ts';
import { formType, type Part, type RawUpstream, readForm, sendJson, sound, startRawUpstream, toForm, toPart } from './support.ts';

const mebibyte = 1024 ** 2;
type Answer = (request: IncomingMessage, response: ServerResponse, index: number) => void | Promise<void>;

let answer: Answer;
let upstream: RawUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startRawUpstream((request, response, index) => answer(request, response, index));
  const upstreams = [{ endpoint: upstream.endpoint, key: 'upstream-key', model: 'whisper-1', api: 'audio/transcriptions' }];
  service = await startService({
    models: {
      listener: { upstreams, defaults: { language: 'de', response_format: 'json' } },
      chatter: { upstreams: [{ protocol: 'demo' }] },
      staff: { upstreams, userRoles: ['staff'] },
    },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream[Symbol.asyncDispose]();
});

const path = '/v1/audio/transcriptions';
const toDeploymentPath = (id = 'listener') => `/openai/deployments/${id}/audio/transcriptions`;
const headers = { 'api-key': callerKey, 'content-type': formType };
const named: Part = { name: 'model', value: 'listener' };

function send(body: Buffer, at = path, more: Record<string, string> = {}): Promise<TestResponse> {
  return service.sendRequest({ path: at, headers: { ...headers, ...more }, body });
}

/** Answers with the received fields. */
async function echoFields(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = await readForm(request);
  const fields = await Promise.all(
    [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string' ? value : [value.name, value.type, await value.text()],
    ]),
  );
  sendJson(response, { text: 'heard', fields, headers: request.headers });
}

interface EchoedForm {
  readonly fields: readonly unknown[];
  readonly headers: Record<string, string>;
}

describe('form', () => {
  it.each([
    ['before the file', [named, sound]],
    ['after the file', [sound, named]],
  ])('with the model %s reaches the upstream with the model name of the upstream', async (_where, parts) => {
    answer = echoFields;
    const { status, json, headers: responseHeaders } = await send(toForm(...parts, { name: 'language', value: 'en' }));
    expect(status).toBe(200);
    const { fields, headers: sent } = json as EchoedForm;
    expect(fields).toEqual([
      ['model', 'whisper-1'],
      ['file', ['a.wav', 'audio/wav', 'RIFF']],
      ['language', 'en'],
      ['response_format', 'json'],
    ]);
    expect(sent).toMatchObject({ authorization: 'Bearer upstream-key', 'content-length': expect.any(String) });
    expect(sent['x-request-id']).toBe(responseHeaders['x-request-id']);
    expect(responseHeaders['x-upstream-attempts']).toBe('1');
  });

  it('at a deployment path needs no model, and a model in it is ignored', async () => {
    answer = echoFields;
    for (const parts of [[sound], [sound, { name: 'model', value: 'staff' }]]) {
      const { json } = await send(toForm(...parts), toDeploymentPath());
      expect((json as EchoedForm).fields).toEqual([
        ['model', 'whisper-1'],
        ['file', ['a.wav', 'audio/wav', 'RIFF']],
        ['language', 'de'],
        ['response_format', 'json'],
      ]);
    }
  });

  it('that is large is streamed to the upstream in chunks', async () => {
    answer = echoFields;
    const large = { ...sound, value: Buffer.alloc(3 * mebibyte, 65) };
    const { json } = await send(toForm(named, large));
    const { fields, headers: sent } = json as EchoedForm;
    expect((fields[1] as [string, string[]])[1][2]).toHaveLength(3 * mebibyte);
    expect(sent).toMatchObject({ 'transfer-encoding': 'chunked' });
  });

  it('is sent completely to the next attempt if the first upstream answers 503 early', async () => {
    answer = async (request, response, index) => {
      if (index % 2 === 0) {
        request.resume();
        return sendJson(response, { error: { message: 'busy' } }, 503);
      }
      return echoFields(request, response);
    };
    if (upstream.requestCount % 2 === 1) await send(toForm(named, sound));
    const { status, headers: responseHeaders } = await send(toForm(named, sound));
    expect([status, responseHeaders['x-upstream-attempts']]).toEqual([200, '2']);
  });

  it('that is too large to buffer is not sent twice', async () => {
    const before = upstream.requestCount;
    answer = (request, response) => {
      request.resume().on('end', () => sendJson(response, { error: { message: 'busy' } }, 503));
    };
    const { status, headers: responseHeaders } = await send(toForm(named, { ...sound, value: Buffer.alloc(3 * mebibyte) }));
    expect([status, responseHeaders['x-upstream-attempts'], upstream.requestCount - before]).toEqual([503, '1', 1]);
  });

  it('can be rejected by the upstream before its end', async () => {
    answer = (_request, response) => sendJson(response, { error: { message: 'too long', code: 'too_long' } }, 400);
    const { status, error } = await send(toForm(named, { ...sound, value: Buffer.alloc(8 * mebibyte) }));
    expect([status, error.message, error.code]).toEqual([400, 'too long', 'too_long']);
  });
});

describe('invalid form', () => {
  const breakFile = (form: Buffer) => Buffer.from(form.toString('latin1').replaceAll('form-data; name="file"', 'file'), 'latin1');
  it.each([
    ['without a model', toForm(sound), 400, 'model'],
    ['with an empty model', toForm(sound, { name: 'model', value: '' }), 400, 'model'],
    ['with two models', toForm(named, sound, named), 400, 'model'],
    ['with a long model', toForm({ name: 'model', value: 'm'.repeat(2000) }, sound), 400, 'model'],
    ['with Model instead of model', toForm(named, sound, { name: 'Model', value: 'staff' }), 400, 'Model'],
    ['with a model in brackets', toForm(named, sound, { name: 'model[]', value: 'staff' }), 400, 'model[]'],
    ['with a name that unescapes to model', toForm(named, sound, { name: 'mo\\del', value: 'staff' }), 400, null],
    ['with a part without a name', toForm(named, sound, { name: '', value: 'x' }), 400, null],
    ['without a file', toForm(named), 400, 'file'],
    ['that breaks off', toForm(named, sound).subarray(0, -20), 400, null],
    ['with a part that is not form-data', breakFile(toForm(named, sound)), 400, null],
    ['with too many parts', toForm(named, ...Array.from({ length: 1001 }, () => ({ name: 'a', value: '' }))), 400, null],
    ['for a model that does not exist', toForm({ name: 'model', value: 'nobody' }, sound), 404, null],
    ['for a model of another role', toForm({ name: 'model', value: 'staff' }, sound), 403, null],
    ['for a chat model', toForm({ name: 'model', value: 'chatter' }, sound), 400, null],
  ])('%s is rejected', async (_what, form, status, param) => {
    const before = upstream.requestCount;
    const answered = await send(form);
    expect([answered.status, answered.error.param]).toEqual([status, param]);
    expect(upstream.requestCount).toBe(before);
  });

  it('is rejected with another media type, with compression, without a boundary, or without a valid key', async () => {
    const form = toForm(named, sound);
    expect((await send(form, path, { 'content-type': 'application/json' })).status).toBe(415);
    expect((await send(form, path, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await send(form, path, { 'content-type': 'multipart/form-data' })).status).toBe(400);
    expect((await send(form, path, { 'api-key': 'wrong' })).status).toBe(401);
  });

  it('is rejected if the file before the model is too large to buffer', async () => {
    const { status, error } = await send(toForm({ ...sound, value: Buffer.alloc(33 * mebibyte) }, named));
    expect([status, error.code, error.param]).toEqual([413, 'payload_too_large', 'model']);
  });

  it('is rejected during streaming if its end is invalid', async () => {
    answer = (request) => void request.resume();
    const large = { ...sound, value: Buffer.alloc(3 * mebibyte) };
    const { status, error } = await send(toForm(named, large, { name: 'model', value: 'staff' }));
    expect([status, error.param]).toEqual([400, 'model']);
  });

  it('is rejected if it exceeds the maximum file size', async () => {
    const { status, error } = await service.sendRequest({
      path,
      headers: { ...headers, 'content-length': String(600 * mebibyte) },
    });
    expect([status, error.code]).toEqual([413, 'payload_too_large']);
  });
});

/** Opens a request with the start of a form. */
function openForm(...pieces: readonly Buffer[]): ClientRequest {
  const opened = openRequest(`${service.url}${path}`, { method: 'POST', headers });
  opened.on('error', () => undefined);
  for (const piece of pieces) opened.write(piece);
  return opened;
}

describe('streamed form', () => {
  it('is sent at the rate of the upstream, without buffering the complete form', async () => {
    const size = 200 * mebibyte;
    let resume = (): void => undefined;
    let received = 0;
    answer = async (request, response) => {
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
      for await (const piece of request) received += (piece as Buffer).length;
      sendJson(response, { text: 'heard', received });
    };
    const opened = openForm(toPart(named));
    let sent = 0;
    const piece = Buffer.alloc(mebibyte, 1);
    opened.write(toPart({ ...sound, value: '' }).subarray(0, -2));
    const answered = new Promise<IncomingMessage>((resolve) => opened.once('response', resolve));
    const writing = (async () => {
      while (sent < size) {
        sent += piece.length;
        if (!opened.write(piece)) await new Promise((resolve) => opened.once('drain', resolve));
      }
      opened.end(`\r\n${toForm()}`);
    })();
    await untilStill(() => sent);
    // The socket buffers and the window of the form, but never the complete form.
    expect(sent).toBeLessThan(24 * mebibyte);
    resume();
    await writing;
    const response = await answered;
    expect(JSON.parse(await text(response))).toMatchObject({ text: 'heard' });
    expect(received).toBeGreaterThan(size);
  });

  it('is canceled at the upstream if the client disconnects', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const requestReceived = new Promise<void>((resolve) => {
      answer = (request) => {
        closed = new Promise((onClose) => request.once('close', onClose));
        request.resume();
        resolve();
      };
    });
    const opened = openForm(toPart(named), toPart({ ...sound, value: Buffer.alloc(2 * mebibyte) }));
    await requestReceived;
    opened.destroy();
    await closed;
    await vi.waitUntil(() => service.inFlightCalls.size === 0);
  });

  it('fails with 503 if the upstream closes the connection', async () => {
    answer = (request) => void request.once('data', () => request.socket.destroy());
    const { status, error } = await send(toForm(named, { ...sound, value: Buffer.alloc(8 * mebibyte) }));
    expect([status, error.type]).toEqual([503, 'server_overloaded']);
  });
});
