import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath, startService, type TestService } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  service = await startService({
    models: { m: { upstreams: [{ endpoint: upstream.endpoint, key: 'upstream-key', headers: { 'X-Team': 'blue' } }] } },
    keys: {
      [callerKey]: { project: 'test' },
      named: { project: 'other', key: 'secret behind a name' },
      'by digest': { project: 'third', sha256: hash('sha256', 'issued elsewhere', 'hex').toUpperCase() },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

function postWith(headers: Record<string, string>): Promise<TestResponse> {
  return service.sendRequest({
    path: getChatPath('m'),
    headers: { 'content-type': 'application/json', ...headers },
    body: { messages: hello },
  });
}

/** Sends one header several times. */
async function sendTwice(name: string, values: readonly string[], path = '/v1/models'): Promise<[status: number, body: unknown]> {
  const { hostname, port } = new URL(service.url);
  const headers = ['host', 'x', ...values.flatMap((value) => [name, value])];
  const clientRequest = request({ hostname, port, path, agent: false, headers }).end();
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  return [response.statusCode ?? 0, await readJson(response)];
}

describe('credentials', () => {
  it.each([
    ['Api-Key', { 'Api-Key': callerKey }],
    ['Authorization: Bearer', { Authorization: `Bearer ${callerKey}` }],
    ['a bearer scheme in any case', { Authorization: `bEARER ${callerKey}` }],
    ['both with the same key', { 'Api-Key': callerKey, Authorization: `Bearer ${callerKey}` }],
    ['an empty Api-Key next to a bearer key', { 'Api-Key': '', Authorization: `Bearer ${callerKey}` }],
    ['the key of an entry that only has a name', { 'Api-Key': 'secret behind a name' }],
    ['the key of an entry that has its digest', { 'Api-Key': 'issued elsewhere' }],
  ])('are accepted as %s', async (_form, headers) => {
    expect((await postWith(headers)).status).toBe(200);
  });

  it.each([
    ['no credentials', {}, 401, 'missing_credentials'],
    ['an empty key', { 'Api-Key': '' }, 401, 'missing_credentials'],
    ['a scheme other than Bearer', { Authorization: `Basic ${callerKey}` }, 401, 'missing_credentials'],
    ['Bearer without a key', { Authorization: 'Bearer' }, 401, 'missing_credentials'],
    ['a key in x-api-key', { 'x-api-key': callerKey }, 401, 'missing_credentials'],
    ['an unknown key', { 'Api-Key': 'unknown' }, 401, 'invalid_api_key'],
    ['the start of a key', { 'Api-Key': callerKey.slice(0, -1) }, 401, 'invalid_api_key'],
    ['a key in another case', { 'Api-Key': callerKey.toUpperCase() }, 401, 'invalid_api_key'],
    ['the name of an entry with another key', { 'Api-Key': 'named' }, 401, 'invalid_api_key'],
    ['the name of an entry that has a digest', { 'Api-Key': 'by digest' }, 401, 'invalid_api_key'],
    ['a digest itself', { 'Api-Key': hash('sha256', 'issued elsewhere', 'hex') }, 401, 'invalid_api_key'],
    ['__proto__', { 'Api-Key': '__proto__' }, 401, 'invalid_api_key'],
    ['constructor', { 'Api-Key': 'constructor' }, 401, 'invalid_api_key'],
    ['a long key', { 'Api-Key': 'k'.repeat(8_000) }, 401, 'invalid_api_key'],
    ['two different keys', { 'Api-Key': callerKey, Authorization: 'Bearer secret behind a name' }, 400, 'ambiguous_credentials'],
  ])('are rejected for %s', async (_form, headers, status, code) => {
    const answer = await postWith(headers);
    expect([answer.status, answer.error.code]).toEqual([status, code]);
    expect(answer.text).not.toContain(callerKey);
  });

  describe('in repeated headers', () => {
    const bearer = `Bearer ${callerKey}`;
    const other = 'secret behind a name';

    it.each([
      ['Authorization', bearer, `Bearer ${other}`],
      ['Authorization', `Basic ${callerKey}`, bearer],
      ['Api-Key', callerKey, other],
      ['Api-Key', 'unknown', callerKey],
    ])('are rejected if the values of %s differ', async (name, ...values) => {
      for (const order of [values, values.toReversed()]) {
        const response = await sendTwice(name, order);
        expect(response).toMatchObject([400, { error: { code: 'ambiguous_credentials' } }]);
        expect(JSON.stringify(response)).not.toContain(callerKey);
      }
    });

    it('are named in the error', async () => {
      const [, body] = await sendTwice('Api-Key', [callerKey, other]);
      expect(body).toMatchObject({
        error: { message: 'The request has two Api-Key fields with different credentials. Send only one of them.' },
      });
    });

    it.each([
      ['Authorization', bearer, bearer],
      ['Api-Key', callerKey, callerKey],
      ['Api-Key', callerKey, ''],
    ])('are accepted if the values of %s are equal or empty', async (name, ...values) => {
      expect(await sendTwice(name, values)).toMatchObject([200, { object: 'list' }]);
    });

    it('are rejected in x-api-key of the Messages API if the values differ', async () => {
      const rejection = await sendTwice('x-api-key', [callerKey, other], '/anthropic/v1/models');
      expect(rejection).toMatchObject([400, { error: { type: 'invalid_request_error' } }]);
      expect(await sendTwice('x-api-key', [callerKey, callerKey], '/anthropic/v1/models')).toMatchObject([200, {}]);
    });
  });

  it('of the client are replaced by those of the upstream', async () => {
    const headers = {
      Authorization: `Bearer ${callerKey}`,
      Cookie: `session=${callerKey}`,
      'X-Forwarded-For': '203.0.113.7',
      'X-Custom': 'canary',
    };
    await postWith(headers);
    const { headers: sent, text } = upstream.requests.at(-1) ?? expect.unreachable();
    expect(sent.authorization).toBe('Bearer upstream-key');
    expect(sent['x-team']).toBe('blue');
    expect(`${JSON.stringify(sent)}${text}`).not.toContain(callerKey);
    for (const name of ['api-key', 'cookie', 'x-custom', 'x-forwarded-for']) expect(sent).not.toHaveProperty(name);
  });

  it('of the upstream are never returned to the client', async () => {
    upstream.script(jsonReply({ error: { message: 'the key upstream-key exceeded its quota' } }, 400));
    const answer = await postWith({ 'Api-Key': callerKey });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('upstream-key');
    upstream.script(jsonReply(plainCompletion('hi')));
  });
});

describe('media type', () => {
  const postAs = (type: string | undefined, more: Record<string, string> = {}): Promise<TestResponse> =>
    service.sendRequest({
      path: getChatPath('m'),
      headers: { 'api-key': callerKey, ...(type !== undefined && { 'content-type': type }), ...more },
      body: { messages: hello },
    });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
    '%s is accepted',
    async (type) => {
      expect((await postAs(type)).status).toBe(200);
    },
  );

  it.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/json-patch+json'])(
    '%s is rejected',
    async (type) => {
      const answer = await postAs(type);
      expect([answer.status, answer.error.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('is rejected with a content encoding other than identity', async () => {
    expect((await postAs('application/json', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await postAs('application/json', { 'content-encoding': 'identity' })).status).toBe(200);
  });
});
