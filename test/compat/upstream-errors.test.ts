import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { errorReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  service = await startService({
    models: {
      m: { upstreams: [{ endpoint: upstream.endpoint, key: 'upstream-key' }], maxRetryAttempts: 1 },
      vectors: { type: 'embedding', upstreams: [{ endpoint: upstream.endpoint, key: 'upstream-key' }], maxRetryAttempts: 1 },
    },
  });
});

afterEach(() => service.forgetFailures());

afterAll(async () => {
  await service.close();
  await upstream.close();
});

const upstreamError = { param: 'messages[0]', code: 'their_code' };

describe('error message of an upstream', () => {
  it.each([
    { detail: 'nope' },
    { detail: [{ loc: ['body'], msg: 'nope', type: 'missing' }] },
    { errors: [{ message: 'nope' }] },
    { error: 'nope' },
    { message: 'nope' },
  ])('is returned from each format: %j', async (body) => {
    upstream.script(({ response }) => void response.writeHead(400).end(JSON.stringify(body)));
    expect((await service.chat('m', { messages: hello })).error).toMatchObject({ message: 'nope' });
  });

  it('is an error even with status 200', async () => {
    for (const fields of [{}, { choices: [] }, plainCompletion('hi')]) {
      upstream.script(jsonReply({ ...fields, error: { message: 'boom', code: 503 } }));
      expect(await service.chat('m', { messages: hello })).toMatchObject({ status: 503 });
      service.forgetFailures();
    }
  });

  it('is not altered if the upstream key is as short as a word', async () => {
    await using short = await startService({ models: { m: { upstreams: [{ endpoint: upstream.endpoint, key: 'up' }] } } });
    upstream.script(errorReply(400, {}, { message: 'The upstream is upset' }));
    expect((await short.chat('m', { messages: hello })).error).toMatchObject({ message: 'The upstream is upset' });
  });
});

describe('upstream status', () => {
  it('413 keeps the connection open after a complete request', async () => {
    upstream.script(errorReply(413, {}, upstreamError));
    const body = JSON.stringify({ messages: hello });
    const answer = await fetch(`${service.url}${getChatPath('m')}`, { method: 'POST', headers: withKey(), body });
    await answer.arrayBuffer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'keep-alive']);
    service.forgetFailures();
  });

  it.each([
    [400, 400, { type: 'invalid_request_error', message: 'upstream says 400', ...upstreamError }],
    [404, 404, { type: 'not_found_error', message: 'upstream says 404', ...upstreamError }],
    [413, 413, { type: 'invalid_request_error', message: 'upstream says 413', ...upstreamError }],
    [422, 400, { type: 'invalid_request_error', message: 'upstream says 422', ...upstreamError }],
    [401, 500, { type: 'upstream_error', code: 'upstream_failed', param: null }],
    [403, 500, { type: 'upstream_error', code: 'upstream_failed', param: null }],
    [429, 429, { type: 'rate_limit_error', code: 'upstream_rate_limited', param: null }],
    [500, 500, { type: 'upstream_error', code: 'upstream_failed', param: null }],
    [502, 503, { type: 'server_overloaded', code: 'upstream_unavailable', param: null }],
    [503, 503, { type: 'server_overloaded', code: 'upstream_unavailable', param: null }],
    [504, 503, { type: 'server_overloaded', code: 'upstream_unavailable', param: null }],
    [418, 500, { type: 'upstream_error', code: 'upstream_failed', param: null }],
    [302, 500, { type: 'upstream_error', code: 'upstream_failed', param: null }],
  ])('%i is returned as %i, streamed or not, and for embeddings', async (upstreamStatus, status, error) => {
    upstream.script(errorReply(upstreamStatus, {}, upstreamError));
    for (const stream of [false, true]) {
      const answer = await service.chat('m', { messages: hello, stream });
      expect(answer.status).toBe(status);
      expect(answer.error).toMatchObject(error);
      expect(answer.headers['content-type']).toContain('application/json');
      service.forgetFailures();
    }
    const embeddings = await service.sendRequest({
      path: '/openai/deployments/vectors/embeddings',
      headers: { 'api-key': 'caller-key', 'content-type': 'application/json' },
      body: { input: 'x' },
    });
    expect(embeddings.status).toBe(status);
    expect(embeddings.error).toMatchObject(error);
  });

  it.each([
    ['HTML', 'text/html', '<h1>404 Not Found</h1>'],
    ['plain text', 'text/plain', '404 page not found'],
    ['an empty body', 'text/plain', ''],
    ['the JSON of a web framework', 'application/json', '{"detail": "Not Found"}'],
  ])('404 with %s is reported as a wrong URL, not as an unknown deployment', async (_what, type, text) => {
    upstream.script(({ response }) => void response.writeHead(404, { 'content-type': type }).end(text));
    const { status, error } = await service.chat('m', { messages: hello });
    expect([status, error]).toMatchObject([500, { code: 'upstream_failed', message: expect.stringContaining('answered 404') }]);
  });

  it.each([
    [429, 429],
    [503, 503],
  ])('%i with a long Retry-After is relayed, and pauses the upstream for at most 60 s', async (upstreamStatus, status) => {
    upstream.script(errorReply(upstreamStatus, { 'retry-after': '43054' }));
    const first = await service.chat('m', { messages: hello });
    expect([first.status, first.headers['retry-after']]).toEqual([status, '43054']);
    const count = upstream.requests.length;
    const later = await service.chat('m', { messages: hello });
    const isPaused = upstream.requests.length === count;
    expect([later.status, later.headers['retry-after']]).toEqual([status, isPaused ? '60' : '43054']);
    expect(isPaused).toBe(status === 429);
  });

  it("401 hides the upstream's message about the configured key", async () => {
    upstream.script(errorReply(401, {}, { message: 'Incorrect API key provided: upstr*-key' }));
    const { text } = await service.chat('m', { messages: hello });
    expect(text).not.toContain('Incorrect');
    expect(text).not.toContain('upstr*');
  });
});

describe('message for the client', () => {
  const html: Reply = ({ response }) => {
    response.writeHead(400, { 'content-type': 'text/html' });
    response.end('<html><body>Bad gateway at 10.0.0.7</body></html>');
  };

  it.each([
    ['an error in the OpenAI format', errorReply(400), 'upstream says 400'],
    ['an error that is a string', jsonReply({ error: 'just text' }, 400), 'just text'],
    ['a message outside of an error', jsonReply({ message: 'bare' }, 400), 'bare'],
    ['HTML', html, 'The upstream answered 400.'],
    ['an empty body', (({ response }) => void response.writeHead(400).end()) as Reply, 'The upstream answered 400.'],
    ['JSON of another format', jsonReply({ detail: [{ loc: ['body'] }] }, 422), 'The upstream answered 422.'],
  ])('is created from %s', async (_form, reply, message) => {
    upstream.script(reply);
    const answer = await service.chat('m', { messages: hello });
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', message, code: 'invalid_request', param: null });
  });

  it('is truncated if it is very long', async () => {
    upstream.script(errorReply(400, {}, { message: 'x'.repeat(50_000) }));
    expect((await service.chat('m', { messages: hello })).error.message.length).toBeLessThan(2_100);
  });
});

describe('Retry-After', () => {
  it.each([
    [429, { 'retry-after': '17' }, '17'],
    [503, { 'retry-after': '17' }, '17'],
    [429, { 'retry-after': '0.4' }, '1'],
  ])('of an upstream %i is returned in seconds, rounded up', async (status, headers, seconds) => {
    upstream.script(errorReply(status, headers));
    const answer = await service.chat('m', { messages: hello });
    expect(answer.headers['retry-after']).toBe(seconds);
  });

  it('can be a date in the upstream reply', async () => {
    upstream.script(errorReply(429, { 'retry-after': new Date(Date.now() + 20_000).toUTCString() }));
    const seconds = Number((await service.chat('m', { messages: hello })).headers['retry-after']);
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThanOrEqual(21);
  });

  it('is set for each 429 and 503, even if the upstream sends none', async () => {
    for (const status of [429, 503]) {
      upstream.script(errorReply(status));
      expect(Number((await service.chat('m', { messages: hello })).headers['retry-after'])).toBeGreaterThan(0);
      service.forgetFailures();
    }
  });

  it('pauses the upstream, and later calls receive the remaining time', async () => {
    upstream.script(errorReply(429, { 'retry-after': '60' }), jsonReply(plainCompletion('hi')));
    await service.chat('m', { messages: hello });
    const before = upstream.requests.length;
    const answer = await service.chat('m', { messages: hello });
    expect(upstream.requests.length).toBe(before);
    expect([answer.status, answer.error.code]).toEqual([429, 'upstream_rate_limited']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(50);
    expect(answer.error.message).toMatch(/\d+ s/);
  });
});
