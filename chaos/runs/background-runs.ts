import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { type Ground, hasTime, type Scenario } from '../scenario.ts';
import { calmConfiguration, startCalmUpstream } from '../support/calm-upstream.ts';
import { eachConcurrently } from '../support/each-concurrently.ts';
import { startSharedStores } from '../support/shared-stores.ts';
import { requireQuietLog } from '../support/watched-node.ts';
import type { HostileUpstream } from '../upstreams/hostile-upstream.ts';
import { type AcknowledgedRun, beginRun, checkRun, readStatus } from './read-run.ts';

const maxConcurrentRuns = 1_000;
const maxConcurrentCalls = 50;
/** The longest answer takes 20 s. */
const maxPieces = 40;
const everyMs = 500;
/** Total time for a lease, a check by another node, and an answer from its start. */
const maxEndMs = 90_000;

/** The parts that stay the same for all kills, and the node that takes over the runs of a killed node. */
interface Setup {
  readonly start: () => Promise<TestProcess>;
  /** Another node that runs all the time. Without it, the killed node starts again. */
  readonly otherNode?: TestProcess;
  readonly upstream: HostileUpstream;
}

/** A thousand background responses on one node, which is killed while they start or while they are answered. */
export const backgroundRuns: Scenario = {
  name: 'background-runs',
  title: 'kill -9 with 1,000 background responses, on SQLite and PostgreSQL',
  weight: 2,
  isLongOnly: true,
  async run(ground) {
    await using upstream = await startCalmUpstream();
    await using folder = await openFolder();
    await using stores = await startSharedStores();
    const configuration = calmConfiguration(upstream.url);
    const startOn = (flags: readonly string[], environment: Readonly<Record<string, string>>): Promise<TestProcess> =>
      startProcess({ configuration, flags, environment: { LOG_LEVEL: 'error', ...environment } });
    const alone: Setup = { start: () => startOn(['--data', folder.path], {}), upstream };
    await using otherNode = await startOn([], stores.environment);
    const shared: Setup = { start: () => startOn([], stores.environment), otherNode, upstream };
    do for (const setup of [alone, shared]) for (const isEarly of [false, true]) await killUnderRuns(ground, setup, isEarly);
    while (hasTime(ground));
    requireQuietLog(otherNode, ground.tally);
  },
};

/** Kills the node during the runs. `isEarly` kills it while runs are still being requested. */
async function killUnderRuns(ground: Ground, { start, otherNode, upstream }: Setup, isEarly: boolean): Promise<void> {
  const { random, tally, log } = ground;
  const runs: AcknowledgedRun[] = [];
  const node = await start();
  const starting = beginAll(ground, node, runs);
  if (isEarly) while (runs.length < maxConcurrentRuns / 2) await sleep(5);
  else {
    await starting;
    await sleep(random.below(8_000));
    tally.peak('answered at once', upstream.open());
  }
  process.kill(node.pid, 'SIGKILL');
  await Promise.all([starting, node.ended]);
  requireQuietLog(node, tally);
  await node[Symbol.asyncDispose]();
  tally.count('kills');
  tally.count('acknowledged', runs.length);
  const survivor = otherNode ?? (await start());
  try {
    const killedMs = performance.now();
    const open = await waitForEnds(survivor.url, runs);
    tally.peak('all ended after ms', Math.round(performance.now() - killedMs));
    for (const { id } of open) tally.addFault(`${id} has not ended`);
    await eachConcurrently(runs, maxConcurrentCalls, (run) => checkRun(survivor.url, run, tally));
    requireQuietLog(survivor, tally);
  } finally {
    if (otherNode === undefined) await survivor[Symbol.asyncDispose]();
  }
  log(`${tally.figures.kills} kills, ${JSON.stringify(tally.figures)}`);
}

/** Starts all runs with random lengths and records the acknowledged ones. */
async function beginAll({ random }: Ground, { url }: TestProcess, runs: AcknowledgedRun[]): Promise<void> {
  const lengths = Array.from({ length: maxConcurrentRuns }, () => 1 + random.below(maxPieces));
  await eachConcurrently(lengths, maxConcurrentCalls, async (pieces) => {
    const run = await beginRun(url, `pieces ${pieces} every ${everyMs}`);
    if (run !== undefined) runs.push(run);
  });
}

/** Returns the runs that have not ended in time. */
async function waitForEnds(url: string, runs: readonly AcknowledgedRun[]): Promise<readonly AcknowledgedRun[]> {
  const untilMs = performance.now() + maxEndMs;
  let open = runs;
  while (open.length > 0 && performance.now() < untilMs) {
    const still: AcknowledgedRun[] = [];
    await eachConcurrently(open, maxConcurrentCalls, async (run) => {
      if (['queued', 'in_progress'].includes(await readStatus(url, run.id))) still.push(run);
    });
    open = still;
    if (open.length > 0) await sleep(500);
  }
  return open;
}
