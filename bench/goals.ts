import type { ContenderName } from './contenders.ts';
import type { Samples } from './samples.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import type { Spread } from './statistics.ts';

/** A goal with its measured value. `isMet` is undefined if its contenders did not run. */
export interface Verdict {
  title: string;
  target: string;
  digits: number;
  measured: Spread | undefined;
  isMet: boolean | undefined;
}

interface Goal {
  title: string;
  scenario: string;
  key: string;
  /** Contender whose value divides the value of Parley. Without it, the value itself is judged. */
  per?: ContenderName;
  /** Scenario whose value of Parley divides the value. */
  perScenario?: string;
  least?: number;
  most?: number;
  unit: string;
  digits: number;
}

/** Creates a goal for the ratio to a contender in the same round. */
const of = (per: ContenderName, scenario: string, key: string, bound: { least: number } | { most: number }, digits = 2) => ({
  scenario,
  key,
  per,
  ...bound,
  unit: '×',
  digits,
});

/** Creates a goal for the ratio to relayed chat streams. */
const ofStreams = (scenario: string, most: number) => ({
  scenario,
  key: 'cpuPerChunk',
  perScenario: 'streams',
  most,
  unit: '×',
  digits: 2,
});

const goals: readonly Goal[] = [
  { title: 'CPU a unary call, of bare Node', ...of('bare', 'unary', 'cpuPerReply', { most: 1.25 }) },
  { title: 'CPU a chunk of a stream without pauses, of bare Node', ...of('bare', 'streams', 'cpuPerChunk', { most: 1.2 }) },
  { title: 'unary req/s, of nginx', ...of('nginx', 'unary', 'perSecond', { least: 0.42 }) },
  { title: 'unary req/s, of Portkey', ...of('portkey', 'unary', 'perSecond', { least: 12 }, 1) },
  { title: 'streams without pauses, chunks/s, of nginx', ...of('nginx', 'streams', 'chunksPerSecond', { least: 0.9 }) },
  { title: 'streams without pauses, chunks/s, of Portkey', ...of('portkey', 'streams', 'chunksPerSecond', { least: 12 }, 1) },
  { title: 'p50 at 500 req/s, over bare Node', scenario: 'latency', key: 'overBareP50', most: 0.04, unit: ' ms', digits: 3 },
  { title: 'p99 at 500 req/s, over bare Node', scenario: 'latency', key: 'overBareP99', most: 0.3, unit: ' ms', digits: 3 },
  { title: 'CPU a paced chunk at 500 streams, of nginx', ...of('nginx', 'paced-500', 'cpuPerChunk', { most: 2.3 }) },
  { title: 'first chunk p99 at 500 streams', scenario: 'paced-500', key: 'firstP99', most: 8, unit: ' ms', digits: 1 },
  { title: 'chunks in time at 500 streams', scenario: 'paced-500', key: 'delivered', least: 99, unit: ' %', digits: 1 },
  { title: 'chunks in time at 5,000 streams', scenario: 'paced-5000', key: 'delivered', least: 99, unit: ' %', digits: 1 },
  { title: 'memory a stream at 5,000', scenario: 'paced-5000', key: 'perStream', most: 17, unit: ' kB', digits: 1 },
  { title: 'request of 200 kB, req/s, of nginx', ...of('nginx', 'body-200k', 'perSecond', { least: 0.3 }) },
  { title: 'request of 200 kB, req/s, of Portkey', ...of('portkey', 'body-200k', 'perSecond', { least: 12 }, 1) },
  { title: 'request of 1 MB with an image, req/s, of nginx', ...of('nginx', 'body-1m', 'perSecond', { least: 0.45 }) },
  { title: 'request of 1 MB with an image, req/s, of Portkey', ...of('portkey', 'body-1m', 'perSecond', { least: 12 }, 1) },
  { title: 'add-in gateway, unary req/s, of nginx', ...of('nginx', 'addin', 'perSecond', { least: 0.3 }) },
  {
    title: 'add-in gateway, streams without pauses, chunks/s, of nginx',
    ...of('nginx', 'addin-streams', 'chunksPerSecond', { least: 0.3 }),
  },
  { title: 'Messages dialect relayed, CPU a chunk, of a relayed chat stream', ...ofStreams('messages-relayed', 1.2) },
  { title: 'Messages dialect translated, CPU a chunk, of a relayed chat stream', ...ofStreams('messages-translated', 2.2) },
  { title: 'Responses relayed, CPU a chunk, of a relayed chat stream', ...ofStreams('responses-relayed', 1.15) },
  { title: 'Responses translated, CPU a chunk, of a relayed chat stream', ...ofStreams('responses-translated', 2.5) },
  { title: 'admitting a call, in memory', scenario: 'admit', key: 'micros', most: 5, unit: ' µs', digits: 2 },
  {
    title: 'admitting a call with a consent, in memory',
    scenario: 'admit',
    key: 'consentMicros',
    most: 5,
    unit: ' µs',
    digits: 2,
  },
  { title: 'commands to Redis for each admitted call', scenario: 'admit', key: 'roundTrips', most: 1, unit: '', digits: 2 },
  { title: 'durable consents into SQLite a second', scenario: 'admit', key: 'stored', least: 1000, unit: '', digits: 0 },
  { title: 'the loop of a quick app, CPU a turn', scenario: 'quick-app', key: 'loopMicros', most: 1000, unit: ' µs', digits: 0 },
  { title: 'stages in time, 200 concurrent quick apps', scenario: 'quick-app', key: 'inTime', least: 99, unit: ' %', digits: 1 },
  { title: 'seconds to ready, embedded default', scenario: 'start', key: 'seconds', most: 0.8, unit: ' s', digits: 2 },
  { title: 'memory idle, the service', scenario: 'start', key: 'serviceMb', most: 110, unit: ' MB', digits: 0 },
  { title: 'memory idle, the add-in gateway', scenario: 'start', key: 'addinMb', most: 70, unit: ' MB', digits: 0 },
];

function judge(goal: Goal, scenario: Scenario, samples: Samples): Verdict {
  const baseline = goal.perScenario === undefined ? undefined : scenarios.find(({ name }) => name === goal.perScenario);
  const under = { scenario: baseline ?? scenario, contender: goal.per ?? 'parley' } as const;
  const isRatio = goal.per !== undefined || baseline !== undefined;
  const measured = isRatio
    ? samples.computeRatio(goal.key, { scenario, contender: 'parley' }, under)
    : samples.spread(scenario, 'parley', goal.key);
  const target = goal.least === undefined ? `≤ ${goal.most}${goal.unit}` : `≥ ${goal.least}${goal.unit}`;
  const { title, digits } = goal;
  const wasTried = samples.has(scenario, 'parley') && samples.has(under.scenario, under.contender);
  if (!measured) return { title, target, digits, measured, isMet: wasTried ? false : undefined };
  const isMet =
    measured.median >= (goal.least ?? Number.NEGATIVE_INFINITY) && measured.median <= (goal.most ?? Number.POSITIVE_INFINITY);
  return { title, target, digits, measured, isMet };
}

/** Judges the medians against the goals of Parley. */
export function judgeGoals(samples: Samples): Verdict[] {
  return goals.flatMap((goal) => {
    const scenario = scenarios.find(({ name }) => name === goal.scenario);
    return scenario ? [judge(goal, scenario, samples)] : [];
  });
}
