import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { allowNonconformingUpstreams } from '#test/described-answers.ts';
import { jsonReply, type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, save } from './support.ts';

allowNonconformingUpstreams();

const alice = getProjectBucket('alice');
const featureKeys = ['configurationEndpoint', 'rateEndpoint', 'tokenizeEndpoint', 'truncatePromptEndpoint'];

let host: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  host = await startScriptedUpstream();
  service = await startService({
    models: {},
    applications: { configured: { endpoint: `${host.url}/app`, features: { rateEndpoint: `${host.url}/rate` } } },
    keys: { alice: { project: 'alice' }, bob: { project: 'bob' }, carol: { project: 'carol', roles: ['limited'] } },
    roles: { limited: { limits: { '*': { requestDay: 2 } } } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  });
  const features = Object.fromEntries(featureKeys.map((name) => [name, `${host.url}/${name}`]));
  const body = { endpoint: `${host.url}/app?own=1`, features, userRoles: ['default', 'limited'] };
  const { status, text } = await save(service, getApplicationPath('shared', alice), body, { 'api-key': 'alice' });
  if (status !== 201) throw new Error(text);
});

beforeEach(() => host.script(jsonReply(plainCompletion('hi'))));

afterAll(async () => {
  await service.close();
  await host.close();
});

const shared = `applications/${alice}/shared`;
const getLastRequest = (): ReceivedRequest => host.requests.at(-1) ?? expect.unreachable();

/** Headers that proxies add to identify or locate the user. */
const proxyHeaders = {
  'x-amzn-oidc-accesstoken': 'secret',
  'cf-access-jwt-assertion': 'secret',
  'x-goog-iap-jwt-assertion': 'secret',
  'x-client-cert': 'secret',
  'x-real-ip': 'secret',
  referer: 'https://internal.example/secret',
  'x-any-new-proxy': 'secret',
};

type SendRequest = (key: string, id: string, options: { query?: string; headers?: Record<string, string> }) => Promise<unknown>;

const post =
  (toPath: (id: string) => string, body: object): SendRequest =>
  (key, id, { query = '', headers = {} }) =>
    service.sendRequest({ path: `${toPath(id)}${query}`, headers: { ...withKey(key), ...headers }, body });
const get: SendRequest = (key, id, { query = '', headers = {} }) =>
  service.sendRequest({
    method: 'GET',
    path: `/v1/deployments/${id}/configuration${query}`,
    headers: { 'api-key': key, ...headers },
  });

const chat = post((id) => `/openai/deployments/${id}/chat/completions`, { messages: hello });
const features: [name: string, ask: SendRequest][] = [
  ['configuration', get],
  ['rate', post((id) => `/v1/${id}/rate`, { rate: true })],
  ['tokenize', post((id) => `/v1/deployments/${id}/tokenize`, { inputs: [] })],
  ['truncate_prompt', post((id) => `/v1/deployments/${id}/truncate_prompt`, { inputs: [] })],
];

describe('a saved application', () => {
  it.each([['chat', chat] as const, ...features])(
    'receives only the allowed headers and the API version with %s requests',
    async (_name, ask) => {
      const allowedHeaders = { 'user-agent': 'agent/1', 'accept-language': 'de', 'x-conversation-id': 'c1' };
      await ask('bob', shared, {
        query: '?api-version=2024-10-21&token=secret',
        headers: { ...proxyHeaders, ...allowedHeaders },
      });
      expect(getLastRequest().headers).toMatchObject(allowedHeaders);
      expect(JSON.stringify([getLastRequest().headers, getLastRequest().path])).not.toContain('secret');
      expect(getLastRequest().path).toContain('api-version=2024-10-21');
    },
  );

  it.each([['chat', chat] as const, ...features])('adds no headers to the response of %s requests', async (_name, ask) => {
    host.script(jsonReply(plainCompletion('hi'), 200, { 'X-Anything': '1', 'X-Frame-Options': 'ALLOWALL' }));
    const { headers } = (await ask('bob', shared, {})) as { headers: Record<string, string> };
    expect(headers).not.toHaveProperty('x-anything');
    expect(headers).not.toHaveProperty('x-frame-options');
  });
});

describe('a feature of a saved application', () => {
  it.each(features)('receives no key of other users: %s', async (_name, ask) => {
    await ask('bob', shared, {});
    expect(getLastRequest().headers).not.toHaveProperty('api-key');
    expect(getLastRequest().headers).not.toHaveProperty('authorization');
  });

  it.each(features)('receives a per-request key of its owner: %s', async (_name, ask) => {
    await ask('alice', shared, {});
    expect(getLastRequest().headers['api-key']).toMatch(/./);
  });

  it('counts against the request limits of the caller', async () => {
    const statuses: unknown[] = [];
    for (const [, ask] of features) statuses.push(((await ask('carol', shared, {})) as { status: number }).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });
});

describe('a feature of a configured application', () => {
  it('receives a per-request key and does not count against request limits', async () => {
    const [, rate] = features[1] ?? expect.unreachable();
    const statuses: unknown[] = [];
    for (let index = 0; index < 4; index += 1)
      statuses.push(((await rate('carol', 'configured', {})) as { status: number }).status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    expect(getLastRequest().headers['api-key']).toMatch(/./);
  });
});
