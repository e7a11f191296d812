import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { plainReply } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { eventsReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { post } from './support.ts';

vi.setConfig({ testTimeout: 15_000 });

let stored: ResponseDatabase;
let upstream: ScriptedUpstream;
let service: TestService;
const configuration = (more: object = {}) => ({
  models: {
    m: { upstreams: [{ endpoint: upstream.endpoint, model: 'up' }], maxRetryAttempts: 1 },
    agreed: { upstreams: [{ endpoint: upstream.endpoint, model: 'up' }], features: { consentRequired: true } },
  },
  applications: { app: { endpoint: `${upstream.url}/app` } },
  keys: { [callerKey]: { project: 'clients' } },
  ...more,
});

beforeAll(async () => {
  stored = await openResponses('SQLite');
  upstream = await startScriptedUpstream(eventsReply(...plainReply('Hi')));
  service = await startService(configuration(), { responses: stored.stores() });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
  await stored[Symbol.asyncDispose]();
});

const create = (fields: object = {}) => post(service, { model: 'm', input: 'Hi', ...fields });
const get = (path: string) => service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
const getId = ({ json }: { json: unknown }): string => (json as { id: string }).id;
const getError = ({ status, text }: { status: number; text: string }) => {
  const { error } = JSON.parse(text);
  return [status, error?.code, error?.param];
};
const count = () =>
  stored.database.run(async (kysely) => {
    const tables = ['responses', 'conversations', 'conversation_items'] as const;
    return Promise.all(tables.map(async (table) => (await kysely.selectFrom(table).select('id').execute()).length));
  });

describe('service with responses.store never', () => {
  it('does not store responses, rejects requests that need storage, and keeps older responses readable and deletable', async () => {
    const before = getId(await create());
    const conversation = getId(await post(service, { items: [{ role: 'user', content: 'Hi' }] }, '/v1/conversations'));
    const counts = await count();
    service.reload(configuration({ responses: { store: 'never' } }));
    for (const fields of [{}, { store: true }, { stream: true }, { previous_response_id: before }, { conversation }]) {
      const { status, text } = await create(fields);
      expect([status, text.includes('"store":false')], text).toEqual([200, true]);
    }
    expect(getError(await create({ background: true }))).toEqual([400, 'invalid_request', 'background']);
    const items = [{ role: 'user', content: 'Hi' }];
    for (const path of ['', `/${conversation}/items`])
      expect(getError(await post(service, { items }, `/v1/conversations${path}`))).toEqual([
        400,
        'invalid_request',
        'conversation',
      ]);
    const renamed = await post(service, { metadata: { a: 'b' } }, `/v1/conversations/${conversation}`);
    expect(getError(renamed)).toEqual([400, 'invalid_request', 'conversation']);
    expect(await count()).toEqual(counts);
    expect((await get(`/v1/responses/${before}`)).status).toBe(200);
    for (const path of [`/v1/responses/${before}`, `/v1/conversations/${conversation}`])
      expect((await service.sendRequest({ method: 'DELETE', path, headers: { 'api-key': callerKey } })).status).toBe(200);
    service.reload(configuration());
  });
});

describe('storage of a user', () => {
  it('is limited: new responses replace the oldest, and conversations are rejected', async () => {
    service.reload(configuration({ responses: { maxBytesPerUser: 12_000 } }));
    const ids: string[] = [];
    for (let nth = 0; nth < 8; nth += 1) ids.push(getId(await create()));
    const latest = ids.at(-1);
    await vi.waitFor(async () => expect((await get(`/v1/responses/${ids[0]}`)).status).toBe(404));
    expect((await get(`/v1/responses/${latest}`)).status).toBe(200);
    const conversation = getId(await post(service, {}, '/v1/conversations'));
    const add = () =>
      post(service, { items: [{ role: 'user', content: 'x'.repeat(6_000) }] }, `/v1/conversations/${conversation}/items`);
    expect([(await add()).status, (await add()).status]).toEqual([200, 200]);
    expect(getError(await add())).toEqual([413, 'payload_too_large', null]);
    expect(getError(await create({ conversation }))).toEqual([413, 'payload_too_large', null]);
    expect((await get(`/v1/responses/${latest}`)).status).toBe(404);
    service.reload(configuration());
    expect((await create({ conversation })).status).toBe(200);
  });
});

describe('background run', () => {
  it('is rejected for a per-request key', async () => {
    let rejection: unknown;
    upstream.script(async (exchange: UpstreamExchange) => {
      if (exchange.received.path === '/app') {
        const key = String(exchange.received.headers['api-key']);
        const body = { model: 'm', input: 'Hi', background: true };
        rejection = getError(await service.sendRequest({ path: '/v1/responses', headers: withKey(key), body }));
      }
      await eventsReply(...plainReply('Hi'))(exchange);
    });
    expect((await post(service, { model: 'app', input: 'Hi' })).status).toBe(200);
    expect(rejection).toEqual([400, 'invalid_request', 'background']);
  });

  it('starts only with the consent that its deployment requires', async () => {
    service.reload(configuration({ consent: { directCalls: 'require' } }));
    const before = await count();
    const { status, json } = await post(service, { model: 'agreed', input: 'Hi', background: true });
    expect([status, (json as { error: { code: string } }).error.code]).toEqual([403, 'consent_required']);
    expect(await count()).toEqual(before);
    service.reload(configuration());
  });
});

describe('store whose reply is lost', () => {
  it.each([
    ['a complete answer', 'add', {}, 200],
    ['a stream that starts', 'begin', { stream: true }, 200],
    ['a queued run', 'begin', { background: true }, 503],
  ] as const)('does not retain %s that was reported as not stored', async (_what, step, fields, status) => {
    await using fresh = await openResponses('SQLite');
    const stores = fresh.stores();
    const write = stores.responses[step].bind(stores.responses) as (...args: unknown[]) => Promise<void>;
    stores.responses[step] = async (...args: unknown[]) => {
      await write(...args);
      throw createStoreError('the connection broke');
    };
    let aheadMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    await using node = await startService(configuration(), { clock, responses: stores });
    const answered = await post(node, { model: 'm', input: 'Hi', ...fields });
    expect(answered.status, answered.text).toBe(status);
    if (status === 200) expect(answered.text).toContain('"store":false');
    const rows = () => fresh.database.run((kysely) => kysely.selectFrom('responses').select('id').execute());
    expect(await rows()).toHaveLength(1);
    aheadMs = 10_000;
    await vi.waitFor(async () => expect(await rows()).toEqual([]), 8_000);
  });
});
