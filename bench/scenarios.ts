import { admitScenario } from './admit-scenario.ts';
import type { ContenderName } from './contenders.ts';
import { readUsage } from './measure.ts';
import { quickAppScenario } from './quick-app-scenario.ts';
import {
  type Call,
  createConversationCall,
  createDialectCall,
  createImageCall,
  createSmallCall,
  type Manner,
  manners,
} from './requests.ts';
import { type LoadRun, runLoad } from './run-load.ts';
import type { Metric, Scenario, Stage, Values } from './scenario.ts';
import { startScenario } from './start-scenario.ts';

const perSecond: Metric = { key: 'perSecond', title: 'req/s', digits: 0 };
const cpuShare: Metric = { key: 'cpuShare', title: 'core used, %', digits: 0 };
const cpuPerReply: Metric = { key: 'cpuPerReply', title: 'µs CPU a request', digits: 1 };
const faultsPerReply: Metric = { key: 'faultsPerReply', title: 'page faults a request', digits: 1 };
const cpuPerChunk: Metric = { key: 'cpuPerChunk', title: 'µs CPU a chunk', digits: 2 };
const p50: Metric = { key: 'p50', title: 'p50, ms', digits: 3 };
const p99: Metric = { key: 'p99', title: 'p99, ms', digits: 3 };
const firstP50: Metric = { key: 'firstP50', title: 'first chunk p50, ms', digits: 2 };
const firstP99: Metric = { key: 'firstP99', title: 'first chunk p99, ms', digits: 2 };
const relayP50: Metric = { key: 'relayP50', title: 'chunk delay p50, ms', digits: 2 };
const relayP99: Metric = { key: 'relayP99', title: 'chunk delay p99, ms', digits: 2 };
const delivered: Metric = { key: 'delivered', title: 'chunks in time, %', digits: 1 };
const rssIdle: Metric = { key: 'rssIdle', title: 'memory idle, MB', digits: 0 };
const rssStep: Metric = { key: 'rssStep', title: 'at 1,000, MB', digits: 0 };
const rssHeld: Metric = { key: 'rssHeld', title: 'at 5,000, MB', digits: 0 };
const perStream: Metric = { key: 'perStream', title: 'kB a stream', digits: 1 };

const flowing: Metric = { key: 'flowing', title: 'streams flowing, %', digits: 1 };
const othersMetric: Metric = { key: 'others', title: 'other processes, % of a core', digits: 0 };

const toMillis = (nanos: number): number => nanos / 1e6;

function toSharedValues({ result, cpuMicros, othersShare }: LoadRun): Values {
  return {
    cpuShare: cpuMicros / result.seconds / 10_000,
    p50: toMillis(result.latency.p50),
    p99: toMillis(result.latency.p99),
    others: othersShare,
  };
}

/** Warm-up before the measurement, so that contenders with a JIT compiler reach their steady state. */
const warmSeconds = 6;

/** Applies a load without a pause before a measurement that starts with single calls. */
async function warmUp({ harness, load, running }: Stage, call: Call): Promise<void> {
  const args = ['closed', '--connections', 64, '--warm-s', 0, '--duration-s', warmSeconds];
  await runLoad(harness, load, running, call, args.map(String));
}

/** Measures the maximum throughput over a number of connections. */
function createClosedScenario(plan: {
  name: string;
  title: string;
  call: () => Call;
  connections: number;
  seconds: number;
}): Scenario {
  const isStream = plan.call().isStream;
  const chunks = { key: 'chunksPerSecond', title: 'chunks/s', digits: 0 };
  const metrics = isStream
    ? [{ ...perSecond, title: 'streams/s' }, chunks, cpuPerChunk]
    : [perSecond, cpuPerReply, faultsPerReply];
  return {
    name: plan.name,
    title: plan.title,
    metrics: [...metrics, cpuShare, p50, p99, othersMetric],
    comparedMetric: isStream ? chunks : perSecond,
    async run({ harness, load, running, scale }) {
      const args = ['closed', '--connections', plan.connections, '--warm-s', warmSeconds, '--duration-s', plan.seconds * scale];
      const run = await runLoad(harness, load, running, plan.call(), args.map(String));
      const { replies, seconds, events } = run.result;
      return {
        ...toSharedValues(run),
        perSecond: replies / seconds,
        chunksPerSecond: events / seconds,
        cpuPerReply: run.cpuMicros / replies,
        faultsPerReply: run.pageFaults / replies,
        cpuPerChunk: run.cpuMicros / events,
      };
    },
  };
}

const latencyScenario: Scenario = {
  name: 'latency',
  title: 'Unary, 1 kB, 500 req/s (open loop, latency from the scheduled send time)',
  metrics: [
    p50,
    p99,
    { key: 'addedP50', title: 'added p50, ms', digits: 3 },
    { key: 'addedP99', title: 'added p99, ms', digits: 3 },
    cpuPerReply,
    othersMetric,
  ],
  comparedMetric: p50,
  async run(stage) {
    const { harness, load, running, scale } = stage;
    const call = createSmallCall('at-once', false);
    await warmUp(stage, call);
    const args = ['rate', '--connections', 64, '--rate', 500, '--warm-s', 2 * scale, '--duration-s', 10 * scale];
    const run = await runLoad(harness, load, running, call, args.map(String));
    return { ...toSharedValues(run), cpuPerReply: run.cpuMicros / run.result.replies };
  },
};

const p99Bounds = [1, 5, 10, 50] as const;
const rateMetrics = p99Bounds.map((ms) => ({ key: `within${ms}`, title: `req/s at p99 ≤ ${ms} ms`, digits: 0 }));
/** Rate of the first step, and the factor from one step to the next. */
const [firstRate, rateFactor] = [500, 1.2];

/** Measures the highest rate of calls at which the p99 is within each bound. Stops after two rates that exceed the last bound. */
const ratesScenario: Scenario = {
  name: 'unary-by-p99',
  title: 'Unary, 1 kB: highest rate by p99 (open loop, 64 connections, steps of 20 %)',
  metrics: [...rateMetrics, othersMetric],
  comparedMetric: rateMetrics[2] ?? perSecond,
  async run(stage) {
    const { harness, load, running, scale } = stage;
    const call = createSmallCall('at-once', false);
    await warmUp(stage, call);
    const values: Values = { ...Object.fromEntries(rateMetrics.map(({ key }) => [key, 0])), others: 0 };
    for (let rate = firstRate, exceeded = 0; exceeded < 2; rate *= rateFactor) {
      const args = ['rate', '--connections', 64, '--rate', Math.round(rate), '--warm-s', 1, '--duration-s', 4 * scale];
      const run = await runLoad(harness, load, running, call, args.map(String));
      const { others = 0, p99: p99Ms = 0 } = toSharedValues(run);
      values.others = Math.max(values.others ?? 0, others);
      for (const ms of p99Bounds) if (p99Ms <= ms) values[`within${ms}`] = run.result.replies / run.result.seconds;
      exceeded = p99Ms > Math.max(...p99Bounds) ? exceeded + 1 : 0;
    }
    return values;
  },
};

/**
 * Measures streams that stay open and receive a chunk per interval. `step` is a smaller number of streams. The memory of a stream
 * is the slope from `step` to all streams.
 */
function createHeldScenario(plan: {
  name: string;
  title: string;
  manner: 'paced' | 'paced-slow';
  streams: number;
  ramp: number;
  step: number;
}): Scenario {
  const memory = plan.step ? [rssIdle, rssStep, rssHeld, perStream] : [rssIdle, { ...rssHeld, title: `at ${plan.streams}, MB` }];
  return {
    name: plan.name,
    title: plan.title,
    metrics: [cpuPerChunk, cpuShare, firstP50, firstP99, relayP50, relayP99, flowing, delivered, ...memory, othersMetric],
    comparedMetric: cpuPerChunk,
    async run(stage) {
      const { harness, load, running, scale } = stage;
      const idle = running.child?.pid === undefined ? Number.NaN : readUsage(running.child.pid).rssBytes;
      await warmUp(stage, createSmallCall('at-once', true));
      const args = ['streams', '--streams', plan.streams, '--ramp', plan.ramp, '--step', plan.step, '--settle-s', 3 * scale];
      const run = await runLoad(
        harness,
        load,
        running,
        createSmallCall(plan.manner, true),
        [...args, '--duration-s', 8 * scale].map(String),
      );
      const { result, cpuMicros, rssBytes, stepRssBytes } = run;
      const due = (plan.streams * result.seconds * 1000) / manners[plan.manner].intervalMs;
      return {
        ...toSharedValues(run),
        cpuPerChunk: cpuMicros / result.events,
        firstP50: toMillis(result.firstChunk.p50),
        firstP99: toMillis(result.firstChunk.p99),
        relayP50: toMillis(result.relay.p50),
        relayP99: toMillis(result.relay.p99),
        flowing: (100 * result.flowing) / plan.streams,
        delivered: (100 * result.events) / due,
        rssIdle: idle / 1e6,
        rssStep: stepRssBytes / 1e6,
        rssHeld: rssBytes / 1e6,
        perStream: (rssBytes - stepRssBytes) / (plan.streams - plan.step) / 1000,
      };
    },
  };
}

/** Returns whether a contender supports a scenario. Portkey is not a gateway for add-ins. */
export function supportsScenario(
  contender: ContenderName,
  { addinManner, only, excluded: without, includesBare: hasBare }: Scenario,
): boolean {
  if (only !== undefined) return contender === only;
  if (contender === 'bare') return hasBare === true;
  return contender !== without && (addinManner === undefined || contender !== 'portkey');
}

/** Applies a load to the gateway for browser add-ins. */
function toAddinScenario(name: string, manner: Manner, scenario: Scenario): Scenario {
  return { ...scenario, name, title: `Add-in gateway: ${scenario.title}`, addinManner: manner };
}

const unaryScenario = createClosedScenario({
  name: 'unary',
  title: 'Unary, 1 kB request and reply, 64 connections at saturation',
  call: () => createSmallCall('at-once', false),
  connections: 64,
  seconds: 5,
});

const streamsScenario = createClosedScenario({
  name: 'streams',
  title: 'Streams of 100 chunks without pauses, 32 connections at saturation',
  call: () => createSmallCall('at-once', true),
  connections: 32,
  seconds: 5,
});

const pacedScenario = createHeldScenario({
  name: 'paced-500',
  title: '500 streams of 50 chunks/s',
  manner: 'paced',
  streams: 500,
  ramp: 250,
  step: 0,
});

/** Measures unpaced streams in a dialect other than chat. */
function createDialectScenario(dialect: 'messages' | 'responses', mode: 'relayed' | 'translated'): Scenario {
  const dialectTitle = dialect === 'messages' ? 'Messages dialect' : 'Responses';
  const how = mode === 'relayed' ? 'relayed' : 'translated to and from an upstream of chat completions';
  return createClosedScenario({
    name: `${dialect}-${mode}`,
    title: `${dialectTitle}, ${how}: streams of 100 chunks without pauses, 32 connections at saturation`,
    call: () => createDialectCall(dialect, mode),
    connections: 32,
    seconds: 5,
  });
}

/** All scenarios in the order of their tables. */
export const scenarios: readonly Scenario[] = [
  { ...unaryScenario, includesBare: true },
  { ...streamsScenario, includesBare: true },
  { ...latencyScenario, includesBare: true },
  {
    ...createClosedScenario({
      name: 'unary-8',
      title: 'Unary, 1 kB request and reply, 8 connections',
      call: () => createSmallCall('at-once', false),
      connections: 8,
      seconds: 5,
    }),
    includesBare: true,
  },
  { ...ratesScenario, includesBare: true },
  pacedScenario,
  createHeldScenario({
    name: 'paced-5000',
    title: '5,000 streams of 2 chunks/s (memory a stream: slope from 1,000 to 5,000)',
    manner: 'paced-slow',
    streams: 5000,
    ramp: 400,
    step: 1000,
  }),
  createClosedScenario({
    name: 'body-200k',
    title: 'Request of 200 kB, 16 connections',
    call: createConversationCall,
    connections: 16,
    seconds: 4,
  }),
  createClosedScenario({
    name: 'body-1m',
    title: 'Request of 1 MB with an image, 16 connections',
    call: createImageCall,
    connections: 16,
    seconds: 4,
  }),
  { ...createDialectScenario('messages', 'relayed'), excluded: 'portkey' },
  { ...createDialectScenario('messages', 'translated'), only: 'parley' },
  { ...createDialectScenario('responses', 'relayed'), only: 'parley' },
  { ...createDialectScenario('responses', 'translated'), only: 'parley' },
  toAddinScenario('addin', 'at-once', unaryScenario),
  toAddinScenario('addin-streams', 'at-once', streamsScenario),
  toAddinScenario('addin-paced', 'paced', pacedScenario),
  admitScenario,
  quickAppScenario,
  startScenario,
];
