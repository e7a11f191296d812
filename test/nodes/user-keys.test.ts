import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { openStream } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { startRedis, type TestRedis } from '#test/start-redis.ts';
import { createProviderEntry, type Issuer, startIssuer } from '../identity/support.ts';
import { chat, createUserKey, identifyWithNode, roles, sendWithCredentials, talkOn } from '../keys/keys-cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const soon = { timeout: 5_000, interval: 50 };

let database: TestDatabase;
let redis: TestRedis;
let issuer: Issuer;
let host: ScriptedUpstream;
let one: TestProcess;
let two: TestProcess;
let token: string;

beforeAll(async () => {
  [database, redis, issuer, host] = await Promise.all([
    createFreshDatabase(),
    startRedis(),
    startIssuer(),
    startScriptedUpstream(),
  ]);
  const environment = {
    PARLEY_DATABASE_URL: database.url,
    PARLEY_REDIS_URL: redis.url,
    PARLEY_SECRET: randomBytes(32).toString('base64url'),
  };
  const configuration = {
    models: { demo: { upstreams: [{ protocol: 'demo' }] }, m: { upstreams: [{ endpoint: `${host.url}/v1` }] } },
    applications: { app: { endpoint: `${host.url}/app` } },
    identityProviders: { corporate: createProviderEntry(issuer, { rolesClaim: 'roles' }) },
    roles,
    security: { allowPrivateNetworks: ['127.0.0.1/32'] },
  };
  const start = () => startProcess({ configuration, environment });
  [one, two] = await Promise.all([start(), start()]);
  token = await issuer.token({ sub: 'ada', roles: 'maker' });
});

afterAll(async () => {
  for (const node of [one, two]) await node[Symbol.asyncDispose]();
  await host.close();
  await issuer.stop();
  for (const server of [database, redis]) await server[Symbol.asyncDispose]();
});

it('a key that a user creates on one node is accepted by the other, and rejected there after its deletion', async () => {
  const createdKey = await createUserKey(one, token);
  await vi.waitFor(async () => expect(await chat(two, createdKey.key, 'demo')).toBe('200'), soon);
  await sendWithCredentials(one, token, `/v1/user/keys/${createdKey.id}`, { method: 'DELETE' });
  await vi.waitFor(async () => expect(await identifyWithNode(two, createdKey.key)).toBe('401 invalid_api_key'), soon);
});

it('a call that an application makes on another node ends when the user key of its call chain is deleted', async () => {
  const createdKey = await createUserKey(one, token);
  let perRequestKey = '';
  let inner: Promise<string | undefined> | undefined;
  const body = { messages: [{ role: 'user', content: 'Hello' }], stream: true };
  host.script(async (exchange) => {
    if (!exchange.received.path.startsWith('/app')) return talkOn(exchange);
    perRequestKey = String(exchange.received.headers['api-key']);
    const headers = { 'api-key': perRequestKey, 'content-type': 'application/json' };
    const reading = await openStream(two.url, { path: '/v1/chat/completions', headers, body: { ...body, model: 'm' } });
    inner = reading.readRest().then(({ error }) => error?.code ?? undefined);
    return talkOn(exchange);
  });
  const headers = { 'api-key': createdKey.key, 'content-type': 'application/json' };
  const outer = (
    await openStream(one.url, { path: '/v1/chat/completions', headers, body: { ...body, model: 'app' } })
  ).readRest();
  await vi.waitFor(() => expect(inner).toBeDefined(), soon);
  expect(await identifyWithNode(two, perRequestKey)).toBe('ada');
  await sendWithCredentials(two, token, `/v1/user/keys/${createdKey.id}`, { method: 'DELETE' });
  expect((await outer).error?.code).toBe('invalid_api_key');
  expect(await inner).toBe('invalid_api_key');
  await vi.waitFor(async () => expect(await identifyWithNode(two, perRequestKey)).toBe('401 invalid_api_key'), soon);
});
