/**
 * Measures one node with 1 and with 2 workers: `npm run bench:workers`. Throughput needs two free cores, because the load generator
 * and the upstream take part of them. Compare CPU and memory on a busy machine.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadMeasurement, plannedCalls, Rig } from './capacity/rig.ts';
import { toSpread } from './statistics.ts';

const rounds = 3;
const idleMs = 4_000;

interface NodeFigures {
  readonly perSecond: number;
  readonly cpuPerCall: number;
  /** Private memory of the node and its share of pages that processes share, in bytes. */
  readonly idleBytes: number;
  readonly residentBytes: number;
}

/** Sums the proportional memory of a process and its descendants. Resident memory counts shared pages of workers several times. */
function readProportionalBytes(pid: number): number {
  const ownBytes = Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0) * 1024;
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  );
  return children.reduce((sum, child) => sum + readProportionalBytes(child), ownBytes);
}

async function measureNode(workers: number): Promise<NodeFigures> {
  await using rig = await Rig.start('embedded', { workers });
  await sleep(idleMs);
  const idleBytes = readProportionalBytes(rig.nodes[0]?.pid ?? 0);
  const residentBytes = rig.readMemory();
  const run = (seconds: number): Promise<LoadMeasurement> =>
    rig.run(plannedCalls.unary, ['closed', '--connections', 64, '--warm-s', 5, '--duration-s', seconds]);
  const { replies, seconds, work } = await run(6);
  return { perSecond: replies / seconds, cpuPerCall: work.nodeMicros / replies, idleBytes, residentBytes };
}

const samples: Record<'throughput' | 'cpu' | 'further' | 'resident', number[]> = {
  throughput: [],
  cpu: [],
  further: [],
  resident: [],
};
for (let round = 1; round <= rounds; round += 1) {
  const oneWorker = await measureNode(1);
  const twoWorkers = await measureNode(2);
  const threeWorkers = await measureNode(3);
  console.info(
    `round ${round}: 1 worker ${oneWorker.perSecond.toFixed(0)} req/s at ${oneWorker.cpuPerCall.toFixed(0)} µs, 2 workers ${twoWorkers.perSecond.toFixed(0)} req/s at ${twoWorkers.cpuPerCall.toFixed(0)} µs`,
  );
  samples.throughput.push(twoWorkers.perSecond / oneWorker.perSecond);
  samples.cpu.push(twoWorkers.cpuPerCall / oneWorker.cpuPerCall);
  samples.further.push((threeWorkers.idleBytes - twoWorkers.idleBytes) / 1e6);
  samples.resident.push(oneWorker.residentBytes / 1e6);
}

const goals = [
  ['throughput of 2 workers, of 1', samples.throughput, '≥ 1.7 ×', 2],
  ['CPU of a call with 2 workers, of 1', samples.cpu, '≤ 1.05 ×', 2],
  ['memory of a further worker, MB', samples.further, '≤ 60', 0],
  ['idle memory of one process, MB', samples.resident, '≤ 100', 0],
] as const;
for (const [title, values, goal, digits] of goals) {
  const spread = toSpread(values);
  const text = spread && `${spread.median.toFixed(digits)} [${spread.min.toFixed(digits)}..${spread.max.toFixed(digits)}]`;
  console.info(`${title.padEnd(36)} ${text}  (goal ${goal})`);
}
