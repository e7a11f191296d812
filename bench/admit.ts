import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openRedisStores } from '#app/node/open-redis-stores.ts';
import { Caches } from '#base/cache/bounded-cache.ts';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import { checkConfiguration } from '#configuration/check.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { HeldRights } from '#domain/callers/held-rights.ts';
import { createIdentify } from '#domain/callers/identify.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import type { CallStart } from '#domain/calls/telemetry.ts';
import { createRequireConsent } from '#domain/consent/consent.ts';
import { Catalog } from '#domain/deployments/catalog.ts';
import { type ConfigSnapshot, createConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { LimitCounters } from '#domain/limits/limit-counters.ts';
import type { LimitStore } from '#domain/limits/limit-store.ts';
import { createDependencySource } from '#domain/quick-app/deployments-as-tools.ts';
import { ReplySizes } from '#domain/usage/reply-sizes.ts';
import { createAuthorize } from '#pipeline/authorize.ts';
import { createReserveQuota } from '#pipeline/reserve-quota.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { MemoryConsentStore } from '#test/memory-consent-store.ts';
import { noopTelemetry } from '#test/noop-telemetry.ts';
import { startRedis } from '#test/start-redis.ts';
import { startService } from '#test/start-service.ts';

/**
 * Measures the cost of admitting a call: key, role, consent, and limits. `node bench/admit.ts` prints the result to stderr.
 * `--json` prints the values to stdout for the harness. Needs redis-server.
 */

const calls = 100_000;
const rounds = 7;
const sharedCalls = 5_000;
const consents = 4_000;
const concurrency = 32;
const consentForm = { app: { consentRequired: true } };
const highLimits = { minute: 1e12, day: 1e12, requestMinute: 1e12, requestDay: 1e12 };
const consentingApplication = { endpoint: 'http://127.0.0.1:1/', features: { consentRequired: true } };
const configuration = {
  models: { m: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] } },
  applications: { app: { ...consentingApplication, userRoles: ['staff'] }, open: consentingApplication },
  keys: { 'a key of a caller': { project: 'bench', role: 'staff' }, ...createKeys() },
  roles: { staff: { limits: { '*': highLimits } } },
};

function createKeys(): object {
  return Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`key-${index}-of-many`, { project: `p-${index}` }]));
}

function readSnapshot(): ConfigSnapshot {
  const checked = checkConfiguration(configuration);
  if ('errors' in checked) throw new Error(JSON.stringify(checked.errors));
  return createConfigSnapshot(checked.configuration);
}

type AdmitCall = (key: string, deployment: string) => Promise<unknown>;

/** Creates the complete admission of a call, except for parsing its body. */
function createAdmission(
  { limits, perRequestKeys }: { limits: LimitStore; perRequestKeys: PerRequestKeys },
  consents = new MemoryConsentStore(),
): AdmitCall {
  const snapshot = readSnapshot();
  const now = (): ConfigSnapshot => snapshot;
  const identify = createIdentify(now, perRequestKeys, {
    clock: systemClock,
    verifyToken: () => Promise.reject(new Error('no token is sent')),
  });
  const catalog = new Catalog(new MemoryApplicationStore());
  const openDependencies = (now: ConfigSnapshot, caller: Caller) => createDependencySource({ catalog, snapshot: now, caller });
  const requireConsent = createRequireConsent({ store: consents, openDependencies, onDependencyGraph: () => undefined });
  const counters = new LimitCounters(limits, systemClock);
  const record = noopTelemetry.startCall({} as CallStart);
  const reserveQuota = createReserveQuota({
    counters,
    sizes: new ReplySizes(),
    clock: systemClock,
    reportError: (message, error) => console.error(message, error),
  });
  const authorize = createAuthorize({ snapshot: now, catalog, requireConsent });
  return async (key, id) => {
    const caller = await identify(key, { socket: {}, headers: {} });
    const call = { id: 'bench', deployment: id, caller, record };
    const target = await authorize(call, 'chat');
    const { settle } = await reserveQuota(target, { promptTokens: 100, maxTokens: 100, isClientConnected: () => true });
    settle?.({ tokens: 150, cost: 0, completeUsage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } });
  };
}

/** Returns microseconds per call of the best round. */
async function measure(work: () => Promise<unknown>): Promise<number> {
  for (let index = 0; index < calls; index += 1) await work();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const started = process.hrtime.bigint();
    for (let index = 0; index < calls; index += 1) await work();
    best = Math.min(best, Number(process.hrtime.bigint() - started) / 1_000 / calls);
  }
  return best;
}

const key = 'a key of a caller';
const staff: Caller = { subject: 'key:bench', project: 'bench', roles: ['staff'], chain: null };
const chainCaller: Caller = { ...staff, chain: { path: ['app'], rights: new HeldRights(), report: () => undefined } };

async function measureInMemory(): Promise<{ micros: number; consentMicros: number }> {
  const perRequestKeys = new MemoryPerRequestKeys(() => 'a per-request key');
  const consentStore = new MemoryConsentStore();
  await consentStore.put(staff.subject, { deployment: 'app', form: consentForm, acceptedAtMs: 0 });
  const admitCall = createAdmission({ limits: new MemoryLimitStore(), perRequestKeys }, consentStore);
  const chainKey = await perRequestKeys.issue(chainCaller);
  return { micros: await measure(() => admitCall(key, 'm')), consentMicros: await measure(() => admitCall(chainKey, 'app')) };
}

/** Measures the Redis commands per call, and the time of an admission with Redis. */
async function measureShared(): Promise<{ roundTrips: number; sharedMicros: number }> {
  await using server = await startRedis();
  const note = (message: string, error?: unknown): void => console.error(message, error);
  const stores = await openRedisStores(new Secret(server.url), {
    clock: systemClock,
    caches: new Caches(),
    note,
    reportError: note,
  });
  const admitCall = createAdmission(stores);
  for (let index = 0; index < sharedCalls; index += 1) await admitCall(key, 'm');
  const redis = new Redis(server.url);
  const monitor = await redis.monitor();
  let commands = 0;
  monitor.on('monitor', (_time: string, _words: string[], source: string) => {
    if (source !== 'lua') commands += 1;
  });
  const started = process.hrtime.bigint();
  for (let index = 0; index < sharedCalls; index += 1) await admitCall(key, 'm');
  const sharedMicros = Number(process.hrtime.bigint() - started) / 1_000 / sharedCalls;
  await redis.ping();
  await new Promise((resolve) => setTimeout(resolve, 200));
  monitor.disconnect();
  redis.disconnect();
  await stores.close();
  return { roundTrips: (commands - 1) / sharedCalls, sharedMicros };
}

/** Runs `count` tasks with limited concurrency. Returns tasks per second. */
async function measureRate(count: number, work: (index: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const started = process.hrtime.bigint();
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (count * 1e9) / Number(process.hrtime.bigint() - started);
}

/**
 * Measures consents per second that reach the disk: through the store, and through the HTTP API with this process as the client.
 */
async function measureConsents(): Promise<{ stored: number; posted: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-admit-'));
  const { database, close } = await openSqlite(join(folder, 'bench.db'));
  const store = new SqlConsentStore(database);
  const put = (index: number): Promise<void> =>
    store.put(`user-${index}`, { deployment: 'app', form: consentForm, acceptedAtMs: index });
  await measureRate(500, put);
  const stored = await measureRate(consents, put);
  const service = await startService(configuration, { consents: store });
  const posted = await measureRate(consents, (index) =>
    post(service.app.server.address() as AddressInfo, `key-${index % 1_000}-of-many`),
  );
  await service.close();
  await close();
  await rm(folder, { recursive: true });
  return { stored, posted };
}

const agent = new Agent({ keepAlive: true, maxSockets: concurrency });

function post({ port }: AddressInfo, key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'api-key': key, 'content-type': 'application/json' };
    const clientRequest = request({ port, method: 'POST', path: '/v1/consent/open', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a consent request returned ${response.statusCode}`));
      response.resume().once('end', resolve);
    });
    clientRequest.on('error', reject).end(JSON.stringify({ consent: { open: { consentRequired: true } } }));
  });
}

const { micros, consentMicros } = await measureInMemory();
const { roundTrips, sharedMicros } = await measureShared();
const { stored, posted } = await measureConsents();
agent.destroy();

const lines: readonly (readonly [what: string, value: number, unit: string])[] = [
  ['key, role, limits of four windows, in memory', micros, 'µs a call'],
  ['per-request key, role, consent, limits, in memory', consentMicros, 'µs a call'],
  ['the same with Redis: commands', roundTrips, 'a call'],
  ['the same with Redis: time', sharedMicros, 'µs a call'],
  [`consents into SQLite, ${concurrency} concurrently`, stored, 'a second'],
  [`consents over HTTP, ${concurrency} concurrently, from the same process`, posted, 'a second'],
];
for (const [what, value, unit] of lines) console.error(`${what.padEnd(72)} ${value.toFixed(2).padStart(10)} ${unit}`);
if (process.argv.includes('--json'))
  console.log(JSON.stringify({ micros, consentMicros, roundTrips, sharedMicros, stored, posted }));
process.exit();
