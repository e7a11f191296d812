/**
 * Measures the cost of each kind of call, and writes the table that `npm run plan` reads: `npm run bench:capacity`. Measures CPU
 * and memory of the processes, so that other load on the machine has little effect. `--check` instead applies a mixed load to
 * three nodes with Redis and PostgreSQL, and exits with 1 if the planner is more than 20 % off. It does not judge the volume of
 * the PostgreSQL log.
 */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addWork,
  type CostTable,
  computeWork,
  type Kind,
  kinds,
  mapWork,
  readCosts,
  type Storage,
  type StorageCosts,
  type Work,
  writeCosts,
} from './capacity/costs.ts';
import { type LoadMeasurement, type PlannedCall, pacedIntervalMs, plannedCalls, Rig } from './capacity/rig.ts';

const warmSeconds = 4;
const seconds = 10;
/** Calls per second. At lower rates, a call costs more, because each process sleeps and wakes for each of its steps. */
const rate = 1_000;
const unaryRate = 1_500;
/** Calls that store or that have several steps. SQLite stores fewer responses per second. */
const slowRate = 50;
const rates: Partial<Record<Kind, number>> = { unary: unaryRate, quickApp: slowRate, storedResponses: slowRate };
const maxDeviation = 0.2;
const settleMs = 5_000;

/** Divides the work in a window, less the idle work, by a count. */
function toCost({ work, seconds: duration }: Pick<LoadMeasurement, 'work' | 'seconds'>, count: number, idle: Work): Work {
  return mapWork(work, (value, name) => Math.max(0, value - idle[name] * duration) / count);
}

const warmFlags = ['closed', '--connections', 16, '--warm-s', 0, '--duration-s', warmSeconds] as const;
const rateFlags = (perSecond: number) =>
  ['rate', '--connections', 64, '--rate', perSecond, '--warm-s', warmSeconds, '--duration-s', seconds] as const;

async function measureStorage(storage: Storage): Promise<StorageCosts> {
  await using rig = await Rig.start(storage);
  const perCall = async (call: PlannedCall, idle: Work, { isStream = false, perSecond = rate } = {}) => {
    const run = await rig.run(call, rateFlags(perSecond), { isStream });
    return { run, cost: toCost(run, run.replies, idle) };
  };
  // The first calls compile code, which is not part of the steady state.
  await warm(rig);
  // Usage of the warm-up is written later.
  await sleep(settleMs);
  const idleSecond = mapWork(await rig.measureIdle(seconds), (value) => Math.max(0, value / seconds));
  const streams: Record<Kind, readonly [PlannedCall, boolean]> = {
    unary: [plannedCalls.unary, false],
    stream: [plannedCalls.shortStream, true],
    messages: [plannedCalls.messages, true],
    responses: [plannedCalls.responses, true],
    storedResponses: [plannedCalls.storedResponses, true],
    quickApp: [plannedCalls.quickApp, true],
  };
  const calls = {} as Record<Kind, Work>;
  for (const kind of kinds) {
    const [call, isStream] = streams[kind];
    await rig.run(call, warmFlags, { isStream });
    calls[kind] = (
      await perCall(call, idleSecond, {
        isStream,
        perSecond: rates[kind] ?? rate,
      })
    ).cost;
    log(storage, kind, calls[kind]);
  }
  const unlimitedCall = (await perCall(plannedCalls.unlimited, idleSecond)).cost;
  log(storage, 'unlimited', unlimitedCall);
  const longStream = (await perCall(plannedCalls.longStream, idleSecond, { isStream: true })).cost;
  const burstChunk = mapWork(longStream, (value, name) => Math.max(0, value - calls.stream[name]) / 200);
  log(storage, 'burst chunk', burstChunk);
  const paced = await rig.run(
    plannedCalls.paced,
    ['streams', '--streams', 400, '--ramp', 200, '--step', 0, '--settle-s', 3, '--duration-s', seconds],
    { isStream: true, events: 0 },
  );
  const pacedChunk = toCost(paced, paced.events, idleSecond);
  log(storage, 'paced chunk', pacedChunk);
  const memory = await measureMemory(storage);
  return { calls, unlimitedCall, pacedChunk, burstChunk, idleSecond, ...memory };
}

/** Measures the memory of a new node: idle, under load, and of each stream that is open. */
async function measureMemory(storage: Storage): Promise<Pick<StorageCosts, 'idleBytes' | 'busyBytes' | 'streamBytes'>> {
  await using rig = await Rig.start(storage);
  const idleBytes = rig.readMemory();
  await warm(rig);
  const { residentBytes: busyBytes } = await rig.run(plannedCalls.unary, rateFlags(rate));
  const flags = ['streams', '--streams', 5_000, '--ramp', 500, '--step', 1_000, '--settle-s', 6, '--duration-s', seconds];
  const slowStreams = await rig.run(plannedCalls.slow, flags, { isStream: true, events: 0 });
  const streamBytes = (slowStreams.residentBytes - slowStreams.stepBytes) / 4_000;
  console.info(
    `${storage}: idle ${toMb(idleBytes)} MB, under load ${toMb(busyBytes)} MB, a stream ${(streamBytes / 1e3).toFixed(1)} kB`,
  );
  return { idleBytes, busyBytes, streamBytes };
}

/** Runs calls until their code is compiled. */
async function warm(rig: Rig): Promise<void> {
  await rig.run(plannedCalls.unary, warmFlags);
  await rig.run(plannedCalls.shortStream, warmFlags, { isStream: true });
}

const toMb = (bytes: number): string => (bytes / 1e6).toFixed(0);

function log(storage: Storage, kind: string, cost: Work): void {
  const { nodeMicros, redisMicros, redisCommands, sqlMicros, sqlTransactions, walBytes } = cost;
  console.info(
    `${storage} ${kind}: ${nodeMicros.toFixed(1)} µs, Redis ${redisCommands.toFixed(1)} commands ${redisMicros.toFixed(1)} µs, SQL ${sqlTransactions.toFixed(2)} transactions ${sqlMicros.toFixed(1)} µs, WAL ${walBytes.toFixed(0)} bytes`,
  );
}

async function measureAll(): Promise<void> {
  const embedded = await measureStorage('embedded');
  const shared = await measureStorage('shared');
  const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores`;
  writeCosts({ measured: { date: new Date().toISOString().slice(0, 10), machine, node: process.version }, embedded, shared });
}

/** Compares the planner with a mixed load on three nodes. Returns whether each judged figure is within the bound. */
async function checkPlan(table: CostTable): Promise<boolean> {
  await using rig = await Rig.start('shared', { count: 3 });
  await warm(rig);
  const streamsPerNode = 150;
  const callsPerNode = 600;
  const flags = ['streams', '--streams', streamsPerNode, '--ramp', 100, '--step', 0, '--settle-s', 3, '--duration-s', 25];
  const streams = rig.run(plannedCalls.paced, flags, { isStream: true, events: 0 });
  const calls = rig.run(
    plannedCalls.unary,
    ['rate', '--connections', 16, '--rate', callsPerNode, '--warm-s', 5, '--duration-s', 20],
    {},
  );
  const [paced, unary] = await Promise.all([streams, calls]);
  const load = {
    kind: 'unary',
    callsPerSecond: unary.replies / unary.seconds,
    streams: 3 * streamsPerNode,
    chunksPerSecond: 1000 / pacedIntervalMs,
    // The streams stay open in the window.
    streamSeconds: Number.POSITIVE_INFINITY,
    storage: 'shared',
  } as const;
  const { idleSecond, busyBytes, streamBytes } = table.shared;
  const planned = addWork(computeWork(table, load), idleSecond, rig.nodes.length);
  const perSecond = (name: keyof Work) => unary.work[name] / unary.seconds;
  const rows: readonly (readonly [name: string, planned: number, measured: number])[] = [
    ['node CPU, µs/s', planned.nodeMicros, perSecond('nodeMicros')],
    ['memory of the nodes, MB', (3 * busyBytes + load.streams * streamBytes) / 1e6, paced.residentBytes / 1e6],
    ['Redis commands/s', planned.redisCommands, perSecond('redisCommands')],
    ['Redis CPU, µs/s', planned.redisMicros, perSecond('redisMicros')],
    ['SQL transactions/s', planned.sqlTransactions, perSecond('sqlTransactions')],
    ['WAL, kB/s', planned.walBytes / 1e3, perSecond('walBytes') / 1e3],
  ];
  for (const [name, plan, measured] of rows) {
    const deviation = measured / plan - 1;
    console.info(
      `${name.padEnd(26)} planned ${plan.toFixed(0).padStart(8)}  measured ${measured.toFixed(0).padStart(8)}  ${(100 * deviation).toFixed(0)} %`,
    );
  }
  // PostgreSQL logs complete pages after each checkpoint, so the volume of its log depends on the time since the last one.
  const judged = rows.filter(([name]) => !name.startsWith('WAL'));
  return judged.every(([, plan, measured]) => Math.abs(measured / plan - 1) <= maxDeviation);
}

if (process.argv.includes('--check')) process.exitCode = (await checkPlan(readCosts())) ? 0 : 1;
else await measureAll();
