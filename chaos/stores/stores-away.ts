import { setTimeout as sleep } from 'node:timers/promises';
import { sendRequest } from '#test/send-request.ts';
import { startPgBouncer, type TestPgBouncer } from '#test/start-pgbouncer.ts';
import { startProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { calmConfiguration, startCalmUpstream } from '../support/calm-upstream.ts';
import { listFamily, postgresProcess, redisProcess, signalAll } from '../support/processes-of.ts';
import { type SharedStores, startSharedStores } from '../support/shared-stores.ts';
import { requireQuietLog, requireToLive } from '../support/watched-node.ts';
import { Callers } from './callers.ts';

/** One outage: the unavailable stores, how it starts, and how it ends. */
interface Outage {
  readonly name: string;
  readonly away: Callers['away'];
  readonly begin: () => Promise<() => Promise<void>>;
}

const maxRecoveryMs = 40_000;

/** Kills, stops, and freezes stores of two nodes under constant load. */
export const storesAway: Scenario = {
  name: 'stores',
  title: 'Redis, PostgreSQL, and PgBouncer stopped and frozen',
  weight: 3,
  async run(ground) {
    await using upstream = await startCalmUpstream();
    await using stores = await startSharedStores();
    await using bouncer = await startPgBouncer(stores.postgres.url, 'transaction');
    const start = (database: string) =>
      startProcess({
        configuration: calmConfiguration(upstream.url),
        environment: { LOG_LEVEL: 'error', ...stores.environment, PARLEY_DATABASE_URL: database },
      });
    await using direct = await start(stores.postgres.url);
    await using pooled = await start(bouncer.url);
    const { json } = await sendRequest(direct.url, { method: 'GET', path: '/v1/bucket', headers: { 'api-key': callerKey } });
    const { bucket } = json as { bucket: string };
    const path = `/v1/files/${bucket}/stores.txt`;
    await sendRequest(direct.url, { method: 'PUT', path, headers: { 'api-key': callerKey }, body: '0' });
    let hasEnded = false;
    for (const node of [direct, pooled]) requireToLive(node, ground.tally, () => hasEnded);
    const callers = new Callers(ground.tally, [direct.url, pooled.url], bucket);
    if (!(await becomesWhole(callers))) throw new Error('some requests fail before the first outage');
    const outages = toOutages(stores, bouncer).filter(({ name }) => name.includes(ground.match));
    const selected = ground.isShort ? [outages[1], outages[4]].filter((outage) => outage !== undefined) : outages;
    callers.start();
    try {
      do {
        for (const outage of selected) if (ground.isShort || hasTime(ground)) await endure(ground, callers, outage);
      } while (!ground.isShort && hasTime(ground));
    } finally {
      await callers.stop();
      hasEnded = true;
    }
    for (const node of [direct, pooled]) requireQuietLog(node, ground.tally);
  },
};

async function endure({ tally, log, isShort }: Ground, callers: Callers, { name, away, begin }: Outage): Promise<void> {
  callers.away = away;
  const end = await begin();
  await sleep(isShort ? 1_500 : 6_000);
  await end();
  const beganMs = performance.now();
  const isWhole = await becomesWhole(callers);
  const ms = performance.now() - beganMs;
  tally.count('outages');
  tally.peak('longest recovery ms', Math.round(ms));
  tally.require(isWhole, () => `after ${name} some requests still fail`);
  // Requests that started during the outage may still fail now.
  await sleep(1_000);
  callers.away = [];
  await sleep(isShort ? 300 : 2_000);
  log(`${name}: recovered after ${Math.round(ms)} ms, ${tally.faultCount} faults`);
}

/** Waits until all requests succeed. Returns whether they do before the time limit. */
async function becomesWhole(callers: Callers): Promise<boolean> {
  const endMs = performance.now() + maxRecoveryMs;
  while (performance.now() < endMs) {
    if (await callers.isWhole()) return true;
    await sleep(200);
  }
  return false;
}

function toOutages({ postgres, redis }: SharedStores, bouncer: TestPgBouncer): readonly Outage[] {
  const frozen = (find: () => Promise<readonly number[]>) => async () => {
    const pids = await find();
    signalAll(pids, 'SIGSTOP');
    return async () => signalAll(pids, 'SIGCONT');
  };
  const redisPids = async () => [await redisProcess(redis.url)];
  const bouncerPids = async () => listFamily(bouncer.pid()).slice(1);
  const postgresPids = async () => listFamily(await postgresProcess(postgres.url));
  const killed = (find: () => Promise<readonly number[]>, start: () => Promise<void>) => async () => {
    signalAll(await find(), 'SIGKILL');
    return start;
  };
  const stopped = (server: { stop(): Promise<void>; start(): Promise<void> }) => async () => {
    await server.stop();
    return () => server.start();
  };
  const bothStores: Callers['away'] = ['redis', 'postgres'];
  return [
    { name: 'Redis stopped', away: ['redis'], begin: stopped(redis) },
    { name: 'Redis frozen', away: ['redis'], begin: frozen(redisPids) },
    { name: 'Redis killed', away: ['redis'], begin: killed(redisPids, () => redis.start()) },
    { name: 'PostgreSQL stopped', away: ['postgres'], begin: stopped(postgres) },
    { name: 'PostgreSQL frozen', away: ['postgres'], begin: frozen(postgresPids) },
    { name: 'PostgreSQL killed', away: ['postgres'], begin: killed(postgresPids, () => postgres.start()) },
    { name: 'PgBouncer frozen', away: ['postgres'], begin: frozen(bouncerPids) },
    {
      name: 'PgBouncer killed',
      away: ['postgres'],
      begin: killed(bouncerPids, () => bouncer.start()),
    },
    {
      name: 'both frozen',
      away: bothStores,
      begin: frozen(async () => [...(await redisPids()), ...(await postgresPids())]),
    },
  ];
}
