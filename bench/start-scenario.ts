import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Harness, type RunningContender, startContender, toParleyCommand } from './contenders.ts';
import { readUsage } from './measure.ts';
import { contenderCore, findFreePort, isAlive } from './processes.ts';
import { InvalidRun } from './run-load.ts';
import type { Metric, Scenario } from './scenario.ts';

const seconds: Metric = { key: 'seconds', title: 'seconds to ready, embedded default', digits: 2 };
const pollMs = 5;

/** Returns whether a node is ready. Uses a new connection each time, so that no connection stays open while the node starts. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/ready', agent: false }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode === 200));
    });
    request.on('error', () => resolve(false));
  });
}

/** Measures seconds from the command to the first 200 of `/ready`, without a configuration and with an empty data folder. */
async function timeStart(harness: Harness): Promise<number> {
  const folder = mkdtempSync(join(harness.temporary, 'start-'));
  const port = await findFreePort();
  const command = toParleyCommand(harness.root, ['serve', '--port', String(port), '--data', join(folder, 'data')]);
  const began = performance.now();
  const child = harness.processes.start({ ...command, core: contenderCore, logPath: join(folder, 'output.log') });
  try {
    while (!(await isReady(port))) {
      if (!isAlive(child)) throw new InvalidRun('the node ended before it was ready');
      await sleep(pollMs);
    }
    return (performance.now() - began) / 1000;
  } finally {
    await harness.processes.stop(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

const readMegabytes = ({ child }: RunningContender): number =>
  child?.pid === undefined ? Number.NaN : readUsage(child.pid).rssBytes / 1e6;

/**
 * Measures a node before its first call: start time with the embedded default, memory with a configuration and as an add-in
 * gateway.
 */
export const startScenario: Scenario = {
  name: 'start',
  title: 'Start: time to ready, memory before the first call',
  metrics: [
    seconds,
    { key: 'serviceMb', title: 'memory idle, MB', digits: 0 },
    { key: 'addinMb', title: 'the add-in gateway, MB', digits: 0 },
  ],
  comparedMetric: seconds,
  only: 'parley',
  async run({ harness, running }) {
    const serviceMb = readMegabytes(running);
    const addin = await startContender('parley', harness, 'at-once');
    const addinMb = readMegabytes(addin);
    await addin.stop();
    return { seconds: await timeStart(harness), serviceMb, addinMb };
  },
};
