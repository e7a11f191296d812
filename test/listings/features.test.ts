import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { findFreePort } from '#test/listening.ts';
import { jsonReply, type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

allowNonconformingUpstreams();

let host: ScriptedUpstream;
let service: TestService;
const auditEvents: unknown[] = [];

beforeAll(async () => {
  host = await startScriptedUpstream();
  const unreachableUrl = `http://127.0.0.1:${await findFreePort()}/gone`;
  const toUrl = (path: string) => `${host.url}/${path}?own=1`;
  const features = {
    consentRequired: false,
    configurationEndpoint: toUrl('configuration'),
    rateEndpoint: toUrl('rate'),
    tokenizeEndpoint: toUrl('tokenize'),
    truncatePromptEndpoint: toUrl('truncate'),
    custom: true,
  };
  const endpoint = `${host.url}/app`;
  const upstreams = [{ protocol: 'demo' }];
  service = await startService(
    {
      models: {
        m: { upstreams, limits: { maxPromptTokens: 6 } },
        unbound: { upstreams },
        total: { upstreams, limits: { maxTotalTokens: 30, maxCompletionTokens: 5 }, defaults: { max_tokens: 10 } },
        priced: { upstreams, features },
        vectors: { type: 'embedding', upstreams },
      },
      applications: {
        app: { endpoint, features },
        'team/app': { endpoint, features },
        plain: { endpoint },
        staff: { endpoint, features, userRoles: ['staff'] },
        dead: { endpoint, features: { configurationEndpoint: unreachableUrl, tokenizeEndpoint: unreachableUrl } },
      },
      keys: { 'caller-key': { project: 'test' }, another: { project: 'another' }, rater: { project: 'rater' } },
    },
    { recordAudit: (event) => auditEvents.push(event) },
  );
});

beforeEach(() => host.script(jsonReply({ from: 'the program' })));
afterEach(() => auditEvents.splice(0));

afterAll(async () => {
  await service.close();
  await host.close();
});

const getLastRequest = (): ReceivedRequest => host.requests.at(-1) ?? expect.unreachable();
const post = (path: string, body: unknown, headers = {}) =>
  service.sendRequest({ path, headers: { ...withKey(), ...headers }, body });
const get = (path: string, headers = {}) =>
  service.sendRequest({ method: 'GET', path, headers: { 'api-key': 'caller-key', ...headers } });

describe('a feature with a configured endpoint', () => {
  it.each([
    ['/v1/deployments/app/tokenize', '/tokenize'],
    ['/v1/deployments/app/truncate_prompt', '/truncate'],
    ['/v1/deployments/app/rate', '/rate'],
    ['/v1/app/rate', '/rate'],
    ['/v1/team/app/rate', '/rate'],
    ['/v1/deployments/team/app/tokenize', '/tokenize'],
    ['/v1/deployments/team%2Fapp/tokenize', '/tokenize'],
    ['/v1/deployments/priced/tokenize', '/tokenize'],
  ])('relays body, status, and content type at %s', async (path, upstreamPath) => {
    host.script(({ response }) => {
      response.writeHead(418, { 'content-type': 'text/odd; x=1', 'set-cookie': 'a=b', 'X-Own': 'yes' });
      response.end(Buffer.from([0xff, 0x00, 0x61]));
    });
    const answer = await post(`${path}?q=1&own=2`, '{"any": [1 , null]}', { 'x-conversation-id': 'c1', cookie: 'k=v' });
    expect([answer.status, answer.headers['content-type'], answer.headers['x-own']]).toEqual([418, 'text/odd; x=1', 'yes']);
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect([getLastRequest().method, getLastRequest().path, getLastRequest().text]).toEqual([
      'POST',
      `${upstreamPath}?own=1&q=1`,
      '{"any": [1 , null]}',
    ]);
    const id = /team|priced/.exec(path)?.[0].replace('team', 'team/app') ?? 'app';
    const expectedHeaders = { 'content-type': 'application/json', 'x-conversation-id': 'c1', 'x-dial-deployment-id': id };
    expect(getLastRequest().headers).toMatchObject(expectedHeaders);
    expect(getLastRequest().headers).not.toHaveProperty('cookie');
    expect(['caller-key', undefined]).not.toContain(getLastRequest().headers['api-key']);
    expect((await get('/v1/user/info', { 'api-key': String(getLastRequest().headers['api-key']) })).status).toBe(401);
  });

  it('relays GET requests for its configuration', async () => {
    const answer = await get('/v1/deployments/team/app/configuration?q=1');
    expect([answer.status, answer.json]).toEqual([200, { from: 'the program' }]);
    expect([getLastRequest().method, getLastRequest().path, getLastRequest().text]).toEqual([
      'GET',
      '/configuration?own=1&q=1',
      '',
    ]);
    expect(getLastRequest().headers).not.toHaveProperty('content-type');
  });

  it('receives a per-request key that is valid during the call', async () => {
    let status = 0;
    host.script(async (exchange) => {
      const key = String(exchange.received.headers['api-key']);
      status = (await post('/v1/chat/completions', { model: 'unbound', messages: hello }, { 'api-key': key })).status;
      await jsonReply({})(exchange);
    });
    expect([(await post('/v1/app/rate', {})).status, status]).toEqual([200, 200]);
  });

  it('returns 404 for an unknown deployment, 403 without access, and 502 for an unreachable endpoint', async () => {
    const requestCount = host.requests.length;
    for (const [id, status, code] of [
      ['nobody', 404, 'deployment_not_found'],
      ['staff', 403, 'access_denied'],
      ['dead', 502, 'upstream_failed'],
    ] as const) {
      const answers = [await post(`/v1/deployments/${id}/tokenize`, {}), await get(`/v1/deployments/${id}/configuration`)];
      for (const { status: actual, error } of answers) expect([actual, error.code]).toEqual([status, code]);
    }
    expect((await post('/v1/deployments/dead/tokenize', {})).error).toMatchObject({
      type: 'upstream_error',
      message: 'The endpoint for this feature of dead failed. The upstream cannot be reached: the connection was refused.',
    });
    expect((await post('/v1/nobody/rate', {})).status).toBe(404);
    expect(host.requests).toHaveLength(requestCount);
  });

  it('returns 502 with the reason if the endpoint sends more than 16 MiB', async () => {
    host.script(jsonReply({ text: 'x'.repeat(16 * 1024 * 1024) }));
    const { status, error } = await post('/v1/app/rate', {});
    expect([status, error.message]).toEqual([
      502,
      "The endpoint for this feature of app failed. The response of the upstream is too large: the reply's body is larger than 16777216 bytes.",
    ]);
  });

  it('requires credentials and a JSON body', async () => {
    const path = '/v1/deployments/app/tokenize';
    expect((await service.sendRequest({ path, headers: { 'content-type': 'application/json' }, body: {} })).status).toBe(401);
    expect((await post(path, 'x', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it.each(['/openai/deployments', '/openai/models', '/openai/applications', '/v1/models'])(
    'does not reveal its address in %s',
    async (path) => {
      const { text, json } = await get(path);
      expect(text).not.toContain(host.url);
      expect(text).not.toContain('Endpoint');
      expect((json as { data: unknown[] }).data.length).toBeGreaterThan(0);
    },
  );
});

describe('a feature without a configured endpoint', () => {
  it('returns an empty configuration for an application', async () => {
    const { status, json } = await get('/v1/deployments/plain/configuration');
    expect([status, json]).toEqual([200, {}]);
  });

  it('records a rating with the user in the audit log, without fields that are null', async () => {
    for (const path of ['/v1/plain/rate', '/v1/deployments/plain/rate'])
      expect((await post(path, { rate: true, comment: 'good', responseId: 'r1' })).status).toBe(200);
    expect((await post('/v1/m/rate', { rate: -1, comment: null, more: 1 })).status).toBe(200);
    const common = { id: expect.any(String), action: 'deployment.rated', subject: 'key:test', requestId: expect.any(String) };
    expect(auditEvents).toEqual([
      { ...common, object: 'plain', details: { rate: true, comment: 'good', responseId: 'r1' } },
      { ...common, object: 'plain', details: { rate: true, comment: 'good', responseId: 'r1' } },
      { ...common, object: 'm', details: { rate: -1 } },
    ]);
  });

  it('gives ratings of one response by one user a single ID, and all other ratings separate IDs', async () => {
    const rate = async (rating: object, headers = {}): Promise<string> => {
      await post('/v1/plain/rate', rating, headers);
      return (auditEvents.at(-1) as { id: string }).id;
    };
    const first = await rate({ rate: true, responseId: 'r1' });
    expect(await rate({ rate: false, responseId: 'r1' })).toBe(first);
    const otherIds = [
      await rate({ rate: true, responseId: 'r2' }),
      await rate({ rate: true, responseId: 'r1' }, { 'api-key': 'another' }),
      await rate({ rate: true }),
      await rate({ rate: true }),
    ];
    expect(new Set([first, ...otherIds]).size).toBe(5);
  });

  it('rejects a rating with a per-request key', async () => {
    let response: Awaited<ReturnType<typeof post>> | undefined;
    host.script(async (exchange) => {
      const key = String(exchange.received.headers['api-key']);
      response = await post('/v1/plain/rate', { rate: true }, { 'api-key': key });
      await jsonReply({})(exchange);
    });
    await post('/v1/app/rate', {});
    expect([response?.status, response?.error.code, auditEvents]).toEqual([403, 'access_denied', []]);
  });

  it('rejects more than 500 ratings per user and day without affecting other users', async () => {
    const rate = (key: string) => post('/v1/plain/rate', { rate: true }, { 'api-key': key });
    for (let index = 0; index < 500; index += 1) expect((await rate('rater')).status).toBe(200);
    const { status, error, headers } = await rate('rater');
    expect([status, error.code]).toEqual([429, 'request_limit_exceeded']);
    expect(error.message).toMatch(/^Your limit of 500 ratings per day is used up\. It resets at \d{4}-\d\d-\d\dT00:00:00Z\.$/);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await rate('another')).status).toBe(200);
    expect(auditEvents).toHaveLength(501);
  });

  it.each([
    [{}, 'rate'],
    [{ rate: 'yes' }, 'rate'],
    [{ rate: true, comment: 1 }, 'comment'],
    [{ rate: true, comment: 'x'.repeat(10_001) }, 'comment'],
    [{ rate: true, responseId: {} }, 'responseId'],
    [[], null],
  ])('rejects the rating %j with the path of the error, and does not record it', async (body, param) => {
    const { status, error } = await post('/v1/plain/rate', body);
    expect([status, error.param, auditEvents]).toEqual([400, param, []]);
  });

  it.each(['tokenize', 'truncate_prompt'])('rejects %s requests for an application', async (name) => {
    const { status, error } = await post(`/v1/deployments/plain/${name}`, { inputs: [] });
    expect([status, error.code]).toEqual([403, 'access_denied']);
  });

  it('rejects truncate_prompt requests for an embedding model, and lists the feature accordingly', async () => {
    const { status, error } = await post('/v1/deployments/vectors/truncate_prompt', { inputs: [] });
    expect([status, error.code]).toEqual([403, 'access_denied']);
    const { json } = await get('/openai/models/vectors');
    expect((json as { features: object }).features).toMatchObject({ truncate_prompt: false, tokenize: true });
  });

  it('estimates the tokens of a model for each input separately', async () => {
    const messages = [{ role: 'user', content: 'x'.repeat(40) }];
    const inputs = [
      { type: 'string', value: 'x'.repeat(9) },
      { type: 'request', value: { messages } },
      { type: 'request', value: { messages: 3 } },
    ];
    const { status, json } = await post('/v1/deployments/m/tokenize', { inputs });
    expect([status, json]).toEqual([
      200,
      {
        outputs: [
          { status: 'success', token_count: 3, estimated: true },
          { status: 'success', token_count: 10, estimated: true },
          { status: 'error', error: expect.stringContaining('messages') },
        ],
      },
    ]);
  });

  it.each([
    [{}, 'inputs'],
    [{ inputs: {} }, 'inputs'],
    [{ inputs: ['x'] }, 'inputs[0]'],
    [
      {
        inputs: [
          { type: 'string', value: 'a' },
          { type: 'text', value: 'a' },
        ],
      },
      'inputs[1].type',
    ],
    [{ inputs: [{ type: 'string', value: 1 }] }, 'inputs[0].value'],
  ])('rejects the tokenize request %j with the path of the error', async (body, param) => {
    const { status, error } = await post('/v1/deployments/m/tokenize', body);
    expect([status, error.param]).toEqual([400, param]);
  });

  it('discards the oldest messages and tool results with their calls, but never instructions or the last message', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      { role: 'system', content: 'x'.repeat(8) },
      { role: 'user', content: 'x'.repeat(40) },
      { role: 'assistant', content: 'x'.repeat(4), tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'x'.repeat(40) },
      { role: 'assistant', content: 'x'.repeat(8) },
      { role: 'user', content: 'x'.repeat(8) },
    ];
    const inputs = [
      { messages },
      { messages, max_prompt_tokens: 1000 },
      { messages, max_prompt_tokens: 2 },
      { max_prompt_tokens: 2 },
    ];
    const { json } = await post('/v1/deployments/m/truncate_prompt', { inputs });
    expect(json).toEqual({
      outputs: [
        { status: 'success', discarded_messages: [1, 2, 3] },
        { status: 'success', discarded_messages: [] },
        { status: 'error', error: expect.stringContaining('2 tokens') },
        { status: 'error', error: expect.stringContaining('messages') },
      ],
    });
    const { json: unbound } = await post('/v1/deployments/unbound/truncate_prompt', { inputs: [{ messages }] });
    expect(unbound).toEqual({ outputs: [{ status: 'success', discarded_messages: [] }] });
  });

  it('reserves the tokens of the reply if only the limit of both is known', async () => {
    const messages = [40, 40].map((length) => ({ role: 'user', content: 'x'.repeat(length) }));
    const inputs = [
      { messages },
      { messages, max_tokens: 5 },
      { messages, max_completion_tokens: 20 },
      { messages, max_completion_tokens: 100 },
    ];
    const { json } = await post('/v1/deployments/total/truncate_prompt', { inputs });
    expect(json).toEqual({
      outputs: [
        { status: 'success', discarded_messages: [] },
        { status: 'success', discarded_messages: [] },
        { status: 'success', discarded_messages: [0] },
        { status: 'error', error: expect.stringContaining('exceed 0 tokens') },
      ],
    });
  });
});

it('paths that end in /rate belong to other routes if those accept POST', async () => {
  expect((await post('/v1/consent/plain/rate', {})).error.code).not.toBe('invalid_request');
  const { status, headers } = await get('/v1/app/rate');
  expect([status, headers.allow]).toEqual([405, 'POST']);
});
