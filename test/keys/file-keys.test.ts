import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkValue } from '#test/check-files.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { openStream, sendRequest } from '#test/send-request.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { AdjustableClock } from '../identity/support.ts';
import { chat, identifyWithNode, sendWithCredentials, talkOn } from './keys-cluster.ts';

const minuteMs = 60_000;
const soon = { timeout: 10_000 };
const clock = new AdjustableClock();
const audited: object[] = [];
let upstream: ScriptedUpstream;
let database: ResponseDatabase;
let service: TestService;

/** Configures one key with these fields, and an unrestricted key of the same project. */
function configure(fields: object, otherSections: object = {}): void {
  const upstreams = [{ endpoint: upstream.endpoint, key: 'k', model: 'm' }];
  service.reload({
    models: { m: { upstreams }, other: { upstreams } },
    applications: { app: { endpoint: `${upstream.url}/app` } },
    keys: {
      robot: { project: 'team', key: 'key-of-the-robot', ...fields },
      open: { project: 'team', key: 'key-without-bounds' },
    },
    ...otherSections,
  });
}

const toTime = (ms: number): string => new Date(ms).toISOString();
const robot = 'key-of-the-robot';

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  database = await openResponses('SQLite');
  service = await startService(
    {},
    {
      clock,
      responses: { ...database.stores(), isShared: false },
      files: { index: new MemoryFileIndex(), blobs: new MemoryBlobs() },
      recordAudit: (record) => void audited.push(record),
    },
  );
});

beforeEach(() => {
  audited.length = 0;
  upstream.script(jsonReply(plainCompletion('hi')));
});

afterAll(async () => {
  await service.close();
  await upstream.close();
  await database[Symbol.asyncDispose]();
});

describe('a key of a configuration file with expiresAt', () => {
  it('is accepted until then and rejected with 401 afterwards', async () => {
    const expiresAtMs = clock.epochMs() + minuteMs;
    configure({ expiresAt: toTime(expiresAtMs) });
    expect([await identifyWithNode(service, robot), await chat(service, robot)]).toEqual(['key:team', '200']);
    clock.moveCalendar(minuteMs + 1);
    expect([await identifyWithNode(service, robot), await chat(service, robot)]).toEqual([
      '401 invalid_api_key',
      '401 invalid_api_key',
    ]);
    const { error } = await sendWithCredentials(service, robot, '/v1/models');
    expect(error.message).toContain(`expired at ${toTime(expiresAtMs)}`);
    expect(await identifyWithNode(service, 'key-without-bounds')).toBe('key:team');
    expect(audited).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ action: 'credentials.refused', details: { code: 'invalid_api_key' } }),
      ),
    );
  });

  it('can have a time with a UTC offset', async () => {
    const local = toTime(clock.epochMs() + 60 * minuteMs).replace('Z', '+02:00');
    configure({ expiresAt: local });
    expect(await identifyWithNode(service, robot)).toBe('401 invalid_api_key');
  });

  it('ends its stream when it expires', async () => {
    configure({ expiresAt: toTime(clock.epochMs() + minuteMs) });
    upstream.script(talkOn);
    const reading = await openStream(service.url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${robot}`, 'content-type': 'application/json' },
      body: { model: 'm', messages: hello, stream: true },
    });
    const result = reading.readRest();
    clock.moveCalendar(minuteMs + 1);
    expect((await result).error?.code).toBe('invalid_api_key');
  });

  it('ends its waiting call when it expires, and disconnects the upstream', async () => {
    configure({ expiresAt: toTime(clock.epochMs() + minuteMs) });
    const before = upstream.requests.length;
    upstream.script(() => new Promise(() => undefined));
    const waiting = chat(service, robot);
    await vi.waitFor(() => expect(upstream.requests.length).toBeGreaterThan(before), soon);
    clock.moveCalendar(minuteMs + 1);
    expect(await waiting).toBe('401 invalid_api_key');
    expect((await upstream.requests[before]?.closed)?.early).toBe(true);
  });

  it('ends its background response when it expires', async () => {
    configure({ expiresAt: toTime(clock.epochMs() + minuteMs) });
    upstream.script(talkOn);
    const body = { model: 'm', input: 'Go on', background: true };
    const { json } = await sendWithCredentials(service, robot, '/v1/responses', { method: 'POST', body });
    const path = `/v1/responses/${(json as { id: string }).id}`;
    const readStatus = async () =>
      ((await sendWithCredentials(service, 'key-without-bounds', path)).json as { status: string }).status;
    await vi.waitFor(async () => expect(await readStatus()).toBe('in_progress'), soon);
    clock.moveCalendar(minuteMs + 1);
    await vi.waitFor(async () => expect(await readStatus()).toBe('failed'), soon);
  });

  it('invalidates the per-request key of its call when it expires', async () => {
    configure({ expiresAt: toTime(clock.epochMs() + minuteMs) });
    let perRequestKey = '';
    upstream.script(async (exchange) => {
      perRequestKey = String(exchange.received.headers['api-key']);
      await talkOn(exchange);
    });
    const waiting = chat(service, robot, 'app');
    await vi.waitFor(async () => expect(await identifyWithNode(service, perRequestKey)).toBe('key:team'), soon);
    clock.moveCalendar(minuteMs + 1);
    expect(await waiting).toBe('401 invalid_api_key');
    await vi.waitFor(async () => expect(await identifyWithNode(service, perRequestKey)).toBe('401 invalid_api_key'), soon);
  });
});

describe('a key that a changed configuration file no longer accepts', () => {
  const open = { project: 'team', key: 'key-without-bounds' };
  const changes: readonly [string, () => void][] = [
    ['is removed', () => configure({}, { keys: { open } })],
    ['is blocked', () => configure({ disabled: true })],
    ['is replaced', () => configure({ key: 'the-next-key-of-the-robot' })],
  ];

  it.each(changes)('ends its waiting call and its background response if it %s', async (_change, reload) => {
    configure({});
    upstream.script(talkOn);
    const body = { model: 'm', input: 'Go on', background: true };
    const { json } = await sendWithCredentials(service, robot, '/v1/responses', { method: 'POST', body });
    const path = `/v1/responses/${(json as { id: string }).id}`;
    const readStatus = async () => ((await sendWithCredentials(service, open.key, path)).json as { status: string }).status;
    await vi.waitFor(async () => expect(await readStatus()).toBe('in_progress'), soon);
    const before = upstream.requests.length;
    upstream.script(() => new Promise(() => undefined));
    const waiting = chat(service, robot);
    await vi.waitFor(() => expect(upstream.requests.length).toBeGreaterThan(before), soon);
    reload();
    expect(await waiting).toBe('401 invalid_api_key');
    await vi.waitFor(async () => expect(await readStatus()).toBe('failed'), soon);
  });
});

describe('a key of a configuration file with allowedIps', () => {
  it('is accepted only from these addresses', async () => {
    configure({ allowedIps: ['127.0.0.0/8'] });
    expect([await identifyWithNode(service, robot), await chat(service, robot)]).toEqual(['key:team', '200']);
    configure({ allowedIps: ['192.0.2.0/24', '2001:db8::/32'] });
    expect([await identifyWithNode(service, robot), await chat(service, robot)]).toEqual([
      '403 address_not_allowed',
      '403 address_not_allowed',
    ]);
    expect(audited).toHaveLength(2);
    configure({ allowedIps: [] });
    expect(await identifyWithNode(service, robot)).toBe('403 address_not_allowed');
  });

  it('uses the forwarded address only if a trusted proxy reports it', async () => {
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    configure({ allowedIps: ['192.0.2.0/24'] });
    expect(await identifyWithNode(service, robot, headers)).toBe('403 address_not_allowed');
    configure({ allowedIps: ['192.0.2.0/24'] }, { security: { trustedProxies: ['127.0.0.1'] } });
    expect(await identifyWithNode(service, robot, headers)).toBe('key:team');
    expect(await identifyWithNode(service, robot, { 'x-forwarded-for': '192.0.3.7' })).toBe('403 address_not_allowed');
  });
});

describe('a key of a configuration file with deployments', () => {
  beforeEach(() => configure({ deployments: ['m'], role: 'admin' }));

  it('calls and lists only these deployments', async () => {
    const outcomes = [await chat(service, robot, 'm'), await chat(service, robot, 'other'), await chat(service, robot, 'app')];
    expect(outcomes).toEqual(['200', '403 access_denied', '403 access_denied']);
    const { json } = await sendWithCredentials(service, robot, '/v1/models');
    expect((json as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(['m']);
  });

  it('is rejected by routes that do not accept bound keys', async () => {
    for (const path of ['/v1/consent/m', '/v1/bucket', '/v1/files/public/a.txt', '/v1/metadata/files/public/'])
      expect([path, (await sendWithCredentials(service, robot, path)).status]).toEqual([path, 403]);
    expect((await sendWithCredentials(service, 'key-without-bounds', '/v1/bucket')).status).toBe(200);
  });

  it('reads only the responses that it stored, also after its secret changes', async () => {
    const store = async (key: string) => {
      const body = { model: 'm', input: 'Hello', store: true };
      const { json } = await sendWithCredentials(service, key, '/v1/responses', { method: 'POST', body });
      return (json as { id: string }).id;
    };
    const [ownId, foreign] = [await store(robot), await store('key-without-bounds')];
    const read = async (key: string, id: string) => (await sendWithCredentials(service, key, `/v1/responses/${id}`)).status;
    expect([await read(robot, ownId), await read(robot, foreign)]).toEqual([200, 404]);
    expect(await read('key-without-bounds', ownId)).toBe(200);
    configure({ deployments: ['m'], key: 'the-next-key-of-the-robot' });
    expect(await read('the-next-key-of-the-robot', ownId)).toBe(200);
  });

  it('does not restrict the inner calls of its applications', async () => {
    configure({ deployments: ['app'] });
    let inner = 0;
    upstream.script(async (exchange) => {
      if (exchange.received.path.startsWith('/app')) {
        const headers = { 'api-key': String(exchange.received.headers['api-key']), 'content-type': 'application/json' };
        const body = { model: 'm', messages: hello };
        inner = (await sendRequest(service.url, { method: 'POST', path: '/v1/chat/completions', headers, body })).status;
      }
      await jsonReply(plainCompletion('hi'))(exchange);
    });
    expect([await chat(service, robot, 'app'), inner]).toEqual(['200', 200]);
  });

  it('calls no deployment if the list is empty', async () => {
    configure({ deployments: [] });
    expect(await chat(service, robot)).toBe('403 access_denied');
  });
});

describe('parley check, for keys of a configuration file', () => {
  const check = (fields: object) =>
    checkValue({
      models: { 'gpt-5': { upstreams: [{ protocol: 'demo' }] } },
      keys: { robot: { project: 'p', key: robot, ...fields } },
    });

  it('warns about an unknown deployment', async () => {
    expect((await check({ deployments: ['gpt-5', 'gpt-6', 'applications/b/x'] }))[0]).toBe(
      'warning: parley.json: keys.robot.deployments[1]: names "gpt-6", a deployment that is not configured. Did you mean gpt-5?',
    );
  });

  it('warns about an expired key', async () => {
    expect((await check({ expiresAt: '2020-01-01T00:00:00+01:00' }))[0]).toBe(
      'warning: parley.json: keys.robot.expiresAt: is in the past, so Parley rejects the key. Delete the entry or write a later time',
    );
    expect(await check({ expiresAt: '2999-01-01T00:00Z' })).toHaveLength(1);
  });

  const timeForm = 'must be a date and time with a time zone, such as 2027-01-31T18:00:00Z';

  it.each<[object, string]>([
    [{ allowedIps: ['10.0.0.1', '10.0.0.1/33'] }, 'allowedIps[1]: must be an address, or a network such as 10.0.0.0/8'],
    [{ expiresAt: '2027-01-01' }, `expiresAt: ${timeForm}`],
    [{ expiresAt: '2027-01-01T00:00:00' }, `expiresAt: ${timeForm}`],
    [{ expiresAt: '2027-02-30T00:00:00Z' }, `expiresAt: ${timeForm}`],
    [{ expiresAt: '2027-01-01T24:00:00Z' }, `expiresAt: ${timeForm}`],
    [{ expiresAt: '2027-01-01T00:00:00+99:00' }, `expiresAt: ${timeForm}`],
    [{ expiresAt: 'soon' }, `expiresAt: ${timeForm}`],
    [{ expiresAt: 1_800_000_000_000 }, 'expiresAt: must be a string'],
  ])('rejects %j', async (fields, message) => {
    expect((await check(fields))[0]).toContain(`keys.robot.${message}`);
  });
});
