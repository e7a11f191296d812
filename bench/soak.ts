/**
 * Measures the memory of a node under a mixed load every minute: `npm run soak -- --minutes 20 --rate 30`. Exits with 1 if memory
 * continues to grow or exceeds its limit. `--help` lists the options.
 */
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toConfiguration } from './soak/configuration.ts';
import { ruler, toCacheLines, toChart, toRow } from './soak/curve.ts';
import { toDemoMix } from './soak/demo-mix.ts';
import { mix } from './soak/mix.ts';
import { MixedLoad } from './soak/mixed-load.ts';
import { NodeClient } from './soak/node-client.ts';
import { parseMetrics, type Reading, toReading } from './soak/readings.ts';
import { type SoakedNode, startNode } from './soak/soaked-node.ts';
import { startWorld } from './soak/world.ts';

const help = `npm run soak -- [options]

Runs the built service under a mixed load and prints its memory each minute.

  --minutes N   duration (default: 60)
  --rest N      idle seconds after the load (default: 60)
  --rate N      runs per second, some with several requests (default: 30)
  --most N      maximum resident memory in MB (default: 260)
  --growth N    maximum growth in percent, from minutes 4 to 6 to the last three minutes (default: 10)
  --with A=B    environment variable of the node, repeatable
  --demo        measures the demo with documents and the built-in model instead of a gateway
  --root PATH   another checkout with a built service
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rest: { type: 'string', default: '60' },
    rate: { type: 'string', default: '30' },
    most: { type: 'string', default: '260' },
    growth: { type: 'string', default: '10' },
    with: { type: 'string', multiple: true, default: [] },
    root: { type: 'string', default: dirname(dirname(fileURLToPath(import.meta.url))) },
    demo: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const settledMinute = 5;

async function takeReading(node: SoakedNode, client: NodeClient, minute: number): Promise<Reading> {
  const { text } = await client.send({ path: '/metrics' });
  const reading = toReading(minute, node.pid, parseMetrics(text));
  console.log(toRow(reading));
  return reading;
}

/** Returns the key that a node prints if it has no configuration. */
function findKey(output: string): string {
  return /#key=(\S+)/.exec(output)?.[1] ?? '';
}

/** Reads measurements every minute until the end, and once more after a minute without load. */
async function soak(node: SoakedNode, client: NodeClient): Promise<readonly Reading[]> {
  console.log(`${toRow(undefined)}\n${ruler}`);
  const readings = [await takeReading(node, client, 0)];
  const load = new MixedLoad(client, values.demo ? toDemoMix(findKey(node.readOutput())) : mix, Number(values.rate));
  for (let minute = 1; minute <= Number(values.minutes); minute += 1) {
    await sleep(60_000);
    readings.push(await takeReading(node, client, minute));
  }
  await load.stop();
  await sleep(Number(values.rest) * 1000);
  readings.push(await takeReading(node, client, Number(values.minutes) + 1));
  console.log(
    `\nMB of RSS. The last line follows ${values.rest} s without load\n${toChart(readings)}\n\n${toCacheLines(readings)}\n`,
  );
  for (const [name, { runs, failures: wrong, statuses }] of load.tallies)
    console.log(`${name}: ${runs} runs, ${wrong} with an unexpected status${wrong > 0 ? `: ${[...statuses].join(', ')}` : ''}`);
  console.log(`${load.skipped} runs skipped, because too many were in progress`);
  return readings;
}

/** Returns the mean RSS in MB. Uncollected garbage makes single readings vary. */
function computeMean(readings: readonly Reading[]): number {
  return readings.reduce((sum, { rss }) => sum + rss / 1e6, 0) / readings.length;
}

/** Describes each missed goal. */
function judge(readings: readonly Reading[]): readonly string[] {
  const loadReadings = readings.slice(0, -1);
  const maxMb = Math.max(...loadReadings.map(({ rss }) => rss / 1e6));
  console.log(`at most ${maxMb.toFixed(0)} MB`);
  const missed = maxMb > Number(values.most) ? [`memory reached ${maxMb.toFixed(0)} MB, the maximum is ${values.most} MB`] : [];
  if (loadReadings.length <= settledMinute + 3) return missed;
  const settled = computeMean(loadReadings.slice(settledMinute - 1, settledMinute + 2));
  const growth = (computeMean(loadReadings.slice(-3)) / settled - 1) * 100;
  console.log(`${growth.toFixed(1)} % from minutes ${settledMinute - 1} to ${settledMinute + 1} to the last three`);
  return growth > Number(values.growth)
    ? [...missed, `memory grew by ${growth.toFixed(1)} %, the maximum is ${values.growth} %`]
    : missed;
}

async function run(): Promise<boolean> {
  const world = await startWorld();
  const environment = Object.fromEntries(values.with.map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
  const node = await startNode({
    root: values.root,
    configuration: values.demo ? undefined : toConfiguration(world.url),
    environment,
  });
  const client = new NodeClient(node.port, world.token);
  const onSignal = (): void => void node.stop().then(() => process.exit(1));
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const readings = await soak(node, client);
    const seconds = (readings.at(-2)?.cpuSeconds ?? 0) / Number(values.minutes) / 60;
    console.log(`${(seconds * 100).toFixed(0)} % of a core used by the node`);
    const missed = judge(readings);
    for (const message of missed) console.log(`missed: ${message}`);
    return missed.length === 0;
  } finally {
    client.close();
    await node.stop();
    world.close();
  }
}

if (values.help) console.log(help);
else process.exit((await run()) ? 0 : 1);
