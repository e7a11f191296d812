import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { createBody, post } from './support.ts';

const maxBodyBytes = 4_000;
let upstream: ScriptedUpstream;
let other: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  [upstream, other] = [
    await startScriptedUpstream(jsonReply(plainCompletion('hi'))),
    await startScriptedUpstream(jsonReply(plainCompletion('hi'))),
  ];
  const upstreams = [{ endpoint: upstream.endpoint }];
  service = await startService({
    models: {
      m: { upstreams },
      closed: { upstreams, userRoles: ['staff'] },
      two: { upstreams: [...upstreams, { endpoint: other.endpoint }] },
    },
    security: { maxBodyBytes },
    aliases: { msgapi: ['anthropic', 'claude/api'] },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
  await other.close();
});

type Headers = Readonly<Record<string, string>>;

function sendTo(prefix: string, headers: Headers, body: unknown = createBody({})): Promise<TestResponse> {
  return service.sendRequest({
    path: `/${prefix}/v1/messages`,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

function getErrorType(answer: TestResponse): string {
  return (answer.json as { error: { type: string } }).error.type;
}

describe('credentials of the Messages API', () => {
  const bearer = { Authorization: `Bearer ${callerKey}` };

  it.each([
    ['msgapi', { 'Api-Key': callerKey }, 200],
    ['msgapi', bearer, 200],
    ['msgapi', { 'x-api-key': callerKey }, 401],
    ['msgapi', { 'Api-Key': callerKey, 'x-api-key': 'of something else' }, 200],
    ['msgapi', { 'Api-Key': callerKey, 'x-api-key': '' }, 200],
    ['anthropic', { 'Api-Key': callerKey }, 200],
    ['anthropic', { 'x-api-key': callerKey }, 200],
    ['claude/api', { 'x-api-key': callerKey }, 200],
    ['anthropic', { 'x-api-key': callerKey, ...bearer }, 200],
    ['anthropic', { 'x-api-key': 'another', ...bearer }, 400],
    ['anthropic', { 'x-api-key': 'another', 'Api-Key': callerKey }, 400],
    ['anthropic', { 'x-api-key': '' }, 401],
    ['anthropic', { 'x-api-key': 'unknown' }, 401],
    ['anthropic', {}, 401],
  ] as const)('on /%s with %j are answered with %d', async (prefix, headers: Headers, status) => {
    const answer = await sendTo(prefix, headers);
    expect(answer.status).toBe(status);
    if (status === 401) expect(getErrorType(answer)).toBe('authentication_error');
  });

  it('in x-api-key are not accepted by other APIs', async () => {
    const chat = await service.sendRequest({
      path: '/v1/chat/completions',
      headers: { 'x-api-key': callerKey, 'content-type': 'application/json' },
      body: {},
    });
    expect([chat.status, chat.error.code]).toEqual([401, 'missing_credentials']);
  });
});

describe('error of the Messages API', () => {
  it('has the format of the API and the request ID in every place', async () => {
    const answer = await post(service, { model: 'none' }, { 'x-request-id': 'my-id' });
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: expect.stringContaining('none') },
      request_id: 'my-id',
    });
    expect(answer.headers).toMatchObject({ 'request-id': 'my-id', 'x-request-id': 'my-id' });
  });

  it.each([
    ['GET', '/msgapi/v1/models', 404, 'not_found_error'],
    ['GET', '/msgapi/v1/nothing', 404, 'not_found_error'],
    ['GET', '/msgapi/v1/messages', 405, 'invalid_request_error'],
    ['DELETE', '/anthropic/v1/messages', 405, 'invalid_request_error'],
    ['GET', '/anthropic/v1/models', 401, 'authentication_error'],
    ['GET', '/anthropic/v1/models/a%2F..%2Fb', 401, 'authentication_error'],
  ])('for %s %s has the status %d', async (method, path, status, type) => {
    const answer = await service.sendRequest({ method, path });
    expect([answer.status, getErrorType(answer)]).toEqual([status, type]);
    const { request_id } = answer.json as { request_id: string };
    expect([answer.headers['request-id'], answer.headers['x-request-id']]).toEqual([request_id, request_id]);
  });

  it('is not used for other paths', async () => {
    const answer = await service.sendRequest({ method: 'GET', path: '/msgapis/v1/models' });
    expect(answer.error.code).toBe('route_not_found');
    expect(answer.headers).not.toHaveProperty('request-id');
  });

  it.each([
    ['the size before the credentials', { 'api-key': 'unknown' }, { pad: 'x'.repeat(maxBodyBytes) }, 413],
    ['the credentials before the media type', { 'api-key': 'unknown', 'content-type': 'text/plain' }, {}, 401],
    ['the media type before the deployment', { 'content-type': 'text/plain' }, { model: 'none' }, 415],
    ['a missing deployment before the body', {}, { model: 'none', messages: [] }, 404],
    ['an unnamed deployment', {}, { model: undefined, messages: [] }, 400],
    ['a model that is not a string', {}, { model: ['m'] }, 400],
    ['the name of an object property as an unknown deployment', {}, { model: 'constructor' }, 404],
    ['access before the body', {}, { model: 'closed', messages: [] }, 403],
    ['access before the cache policy', { 'x-core-cache-policy': 'nonsense' }, { model: 'closed' }, 403],
    ['the cache policy', { 'x-core-cache-policy': 'nonsense' }, {}, 400],
    ['the body', {}, { messages: [] }, 400],
  ])('reports %s', async (_what, headers, body, status) => {
    const answer = await sendTo('msgapi', { 'api-key': callerKey, ...(headers as Headers) }, createBody(body));
    expect(answer.status).toBe(status);
  });

  it.each(['{', '[]', 'null', '"x"', '{"model":"m","__proto__":{}}'])('is returned for the body %s', async (body) => {
    const answer = await sendTo('msgapi', { 'api-key': callerKey }, body);
    expect([400, 404]).toContain(answer.status);
    expect(answer.json).toMatchObject({ type: 'error' });
  });

  it('for an invalid body is returned without an upstream call', async () => {
    const before = upstream.requests.length;
    await post(service, { messages: [] });
    expect(upstream.requests.length).toBe(before);
  });
});

describe('cache policy', () => {
  const system = (n: number) => ({ model: 'two', system: `conversation ${n}` });
  const findUpstream = async (body: object, policy?: string): Promise<string> => {
    const before = upstream.requests.length;
    await post(service, body, policy === undefined ? {} : { 'X-CORE-CACHE-POLICY': policy });
    return upstream.requests.length > before ? 'one' : 'other';
  };

  it('cache-priority sends each conversation to one upstream and distributes the conversations', async () => {
    const homes = new Set<string>();
    for (let n = 0; n < 16; n += 1) {
      const first = await findUpstream(system(n), 'cache-priority');
      const messages = [
        ...['Hello', 'a', 'b'].map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
      ];
      expect(await findUpstream({ ...system(n), messages }, 'cache-priority')).toBe(first);
      homes.add(first);
    }
    expect(homes.size).toBe(2);
  });

  it.each([undefined, 'availability-priority'])('%s distributes the calls of a conversation', async (policy) => {
    const homes = [await findUpstream(system(0), policy), await findUpstream(system(0), policy)];
    expect(new Set(homes).size).toBe(2);
  });
});

describe('Messages API', () => {
  it('needs no version header', async () => {
    expect((await post(service, {})).json).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
    });
  });

  it('returns the name of the deployment, not of the upstream model', async () => {
    expect((await post(service, {})).json).toMatchObject({ model: 'm' });
  });

  it("does not send the client's key to the upstream", async () => {
    await sendTo('anthropic', { 'x-api-key': callerKey });
    const { headers, text } = upstream.requests.at(-1) ?? expect.unreachable();
    expect(`${JSON.stringify(headers)}${text}`).not.toContain(callerKey);
  });

  it('shortens long tool names for the upstream and restores them in the answer', async () => {
    const name = 'n'.repeat(100);
    upstream.script(({ received, response }) => {
      const [tool] = received.body.tools as { function: { name: string } }[];
      const call = { id: 'c', type: 'function', function: { name: tool?.function.name, arguments: '{}' } };
      const choices = [
        { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
      ];
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(plainCompletion('', { choices })));
    });
    const answer = await post(service, { tools: [{ name, input_schema: { type: 'object' } }] });
    upstream.script(jsonReply(plainCompletion('hi')));
    expect(answer.json).toMatchObject({ content: [{ type: 'tool_use', name, input: {} }], stop_reason: 'tool_use' });
    const { body } = upstream.requests.at(-1) ?? expect.unreachable();
    expect((body.tools as { function: { name: string } }[])[0]?.function.name).toHaveLength(64);
  });

  it('validates the caller and the body of count_tokens', async () => {
    const path = '/msgapi/v1/messages/count_tokens';
    const count = (body: object): Promise<TestResponse> => service.sendRequest({ path, headers: withKey(), body });
    const messages = [{ role: 'user', content: 'x'.repeat(40) }];
    expect((await count({ model: 'm', messages })).json).toEqual({ input_tokens: 10 });
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    expect(((await count({ model: 'm', messages, tools })).json as { input_tokens: number }).input_tokens).toBeGreaterThan(20);
    const answers = [
      await count({ model: 'closed', messages }),
      await count({ model: 'none', messages }),
      await count({ model: 'm', messages: [] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 404, 400]);
  });
});
