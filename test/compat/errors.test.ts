import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { hello, plainCompletion, plainReply } from '#test/chunks.ts';
import { eventsReply, jsonReply } from '#test/scripted-upstream.ts';
import { startModel } from '#test/start-model.ts';
import { callerKey, getChatPath, withKey } from '#test/start-service.ts';

const { upstream, service } = await startModel(jsonReply(plainCompletion('hi')));

describe('error', () => {
  it.each([
    ['an invalid body', { path: getChatPath('m'), headers: withKey(), body: '{' }, 400],
    ['no key', { path: getChatPath('m'), body: '{}' }, 401],
    ['an unknown deployment', { path: getChatPath('none'), headers: withKey(), body: '{}' }, 404],
    ['an unknown route', { path: '/nowhere', headers: withKey(), body: '{}' }, 404],
    ['an unknown model in a listing', { method: 'GET', path: '/v1/models/none', headers: withKey() }, 404],
    ['a listing without a key', { method: 'GET', path: '/v1/models' }, 401],
    ['the wrong method', { method: 'DELETE', path: '/v1/chat/completions', headers: withKey() }, 405],
    ['a URL that cannot be decoded', { method: 'GET', path: '/v1/models/%zz', headers: withKey() }, 404],
    ['a very long URL', { method: 'GET', path: `/v1/models/${'x'.repeat(9_000)}`, headers: withKey() }, 404],
    [
      'a listing with a body of another type',
      { method: 'GET', path: '/v1/models/none', headers: { ...withKey(), 'content-type': 'text/html' }, body: 'x' },
      404,
    ],
  ])('for %s has exactly four keys, and a request ID', async (_what, request, status) => {
    const answer = await service.sendRequest(request);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.json as object)).toEqual(['error']);
    expect(Object.keys(answer.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(typeof answer.error.message).toBe('string');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/);
  });

  it.each([
    ['GET /nowhere HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400],
    [`GET /v1/models HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    [`GET /v1/models HTTP/1.1\r\napi-key: ${callerKey}\r\nconnection: close\r\n\r\n`, 400],
    [`POST ${getChatPath('m')} HTTP/1.1\r\nhost: x\r\nexpect: foo\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`, 417],
  ])('for invalid HTTP has exactly four keys', async (bytes, status) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(bytes);
    const text = await readText(socket);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const { error } = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { error: object };
    expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  });

  it("for an unsupported expectation has the format of the path's API, and a request ID", async () => {
    const answer = await service.sendRequest({ path: '/msgapi/v1/messages', headers: { ...withKey(), expect: 'foo' }, body: {} });
    expect([answer.status, answer.json]).toEqual([
      417,
      { type: 'error', error: { type: 'invalid_request_error', message: expect.any(String) }, request_id: expect.any(String) },
    ]);
    expect(answer.headers['x-request-id']).toMatch(/^[a-z-]{36}$/);
  });

  it('is invalid_json for deep nesting and a key named __proto__', async () => {
    const deep = `{"messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    for (const body of [deep, '{"messages":[{"role":"user","content":"x","__proto__":{"a":1}}]}', '\u0000', '']) {
      const answer = await service.sendRequest({ path: getChatPath('m'), headers: withKey(), body });
      expect([answer.status, answer.error.code]).toEqual([400, 'invalid_json']);
    }
  });

  it.each(['/v1/chat/completions', '/v1/embeddings', '/msgapi/v1/messages'])(
    'at %s explains how to name a deployment',
    async (path) => {
      const getError = async (body: string) => {
        const answer = await service.sendRequest({ path, headers: withKey(), body });
        expect(answer.status).toBe(400);
        return answer.error.message;
      };
      for (const body of ['null', '[]', '"x"', '1']) expect(await getError(body)).toBe('The body must be a JSON object.');
      expect(await getError('{"Model":"m","messages":[]}')).toMatch(/^Model:? is not a known field. The name is model\.$/);
      for (const body of ['{}', '{"model":""}', '{"model":["m"]}'])
        expect(await getError(body)).toMatch(/^model:? must name a deployment/);
    },
  );

  it('contains the path of the invalid field', async () => {
    const answer = await service.chat('m', { messages: [...hello, { role: 'user', content: 3 }], temperature: 1 });
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', param: 'messages[1].content', code: 'invalid_request' });
  });
});

describe('unsupported method', () => {
  it.each([
    ['GET', '/v1/chat/completions', ['POST']],
    ['DELETE', getChatPath('m'), ['POST']],
    ['PUT', '/openai/deployments/m/embeddings', ['POST']],
    ['POST', '/v1/models', ['GET', 'HEAD']],
    ['PATCH', '/openai/applications', ['GET', 'HEAD']],
  ])('%s %s is rejected with the supported methods', async (method, path, methods) => {
    const answer = await service.sendRequest({ method, path, headers: withKey() });
    expect([answer.status, answer.error.code]).toEqual([405, 'method_not_allowed']);
    const allowed = String(answer.headers.allow).split(', ');
    for (const each of methods) expect(allowed).toContain(each);
    expect(allowed).not.toContain(method);
  });
});

describe('X-Request-Id', () => {
  const postAs = (id: string | undefined, path = getChatPath('m')) =>
    service.sendRequest({
      path,
      headers: { ...withKey(), ...(id !== undefined && { 'x-request-id': id }) },
      body: { messages: hello },
    });

  it('is returned unchanged and sent to the upstream', async () => {
    const answer = await postAs('caller.1:2_3-4');
    expect(answer.headers['x-request-id']).toBe('caller.1:2_3-4');
    expect(upstream.requests.at(-1)?.headers['x-request-id']).toBe('caller.1:2_3-4');
  });

  it.each([undefined, '', 'with space', 'x'.repeat(129), 'a,b', '<script>', 'é'])(
    'is created if it is missing or malformed: %j',
    async (id) => {
      const [first, second] = [await postAs(id), await postAs(id)];
      expect(first.headers['x-request-id']).not.toBe(id);
      // Some clients search the error text for 429, so an ID contains no digits.
      expect(first.headers['x-request-id']).toMatch(/^[a-z-]+$/);
      expect(first.headers['x-request-id']).not.toBe(second.headers['x-request-id']);
    },
  );

  it('is returned with errors and streams', async () => {
    expect((await postAs('e1', getChatPath('none'))).headers['x-request-id']).toBe('e1');
    upstream.script(eventsReply(...plainReply('hi')));
    const stream = await service.stream('m', { messages: hello }, { 'x-request-id': 's1' });
    expect(stream.headers['x-request-id']).toBe('s1');
    await stream.readRest();
    upstream.script(jsonReply(plainCompletion('hi')));
  });

  it('is returned with listings and errors of the framework', async () => {
    for (const path of ['/v1/models', '/nowhere']) {
      const answer = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey, 'x-request-id': 'l1' } });
      expect(answer.headers['x-request-id']).toBe('l1');
    }
  });
});
