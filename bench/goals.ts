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
  /** Contender whose value divides the value of Parley. If undefined, the value itself is judged. */
  divisor?: ContenderName;
  /** Scenario whose value of Parley divides the value. */
  divisorScenario?: string;
  min?: number;
  max?: number;
  unit: string;
  digits: number;
}

/** Creates a goal for the ratio to a contender in the same round. */
const createContenderGoal = (
  per: ContenderName,
  scenario: string,
  key: string,
  bound: { min: number } | { max: number },
  digits = 2,
) => ({
  scenario,
  key,
  per,
  ...bound,
  unit: '×',
  digits,
});

/** Creates a goal for the ratio to relayed chat streams. */
const createStreamGoal = (scenario: string, max: number) => ({
  scenario,
  key: 'cpuPerChunk',
  perScenario: 'streams',
  max,
  unit: '×',
  digits: 2,
});

const goals: readonly Goal[] = [
  { title: 'CPU a unary call, of bare Node', ...createContenderGoal('bare', 'unary', 'cpuPerReply', { max: 1.25 }) },
  {
    title: 'CPU a chunk of a stream without pauses, of bare Node',
    ...createContenderGoal('bare', 'streams', 'cpuPerChunk', { max: 1.2 }),
  },
  { title: 'unary req/s, of nginx', ...createContenderGoal('nginx', 'unary', 'perSecond', { min: 0.42 }) },
  { title: 'unary req/s, of Portkey', ...createContenderGoal('portkey', 'unary', 'perSecond', { min: 12 }, 1) },
  {
    title: 'streams without pauses, chunks/s, of nginx',
    ...createContenderGoal('nginx', 'streams', 'chunksPerSecond', { min: 0.9 }),
  },
  {
    title: 'streams without pauses, chunks/s, of Portkey',
    ...createContenderGoal('portkey', 'streams', 'chunksPerSecond', { min: 12 }, 1),
  },
  { title: 'p50 at 500 req/s, over bare Node', scenario: 'latency', key: 'overBareP50', max: 0.04, unit: ' ms', digits: 3 },
  { title: 'p99 at 500 req/s, over bare Node', scenario: 'latency', key: 'overBareP99', max: 0.3, unit: ' ms', digits: 3 },
  {
    title: 'CPU a paced chunk at 500 streams, of nginx',
    ...createContenderGoal('nginx', 'paced-500', 'cpuPerChunk', { max: 2.3 }),
  },
  { title: 'first chunk p99 at 500 streams', scenario: 'paced-500', key: 'firstP99', max: 8, unit: ' ms', digits: 1 },
  { title: 'chunks in time at 500 streams', scenario: 'paced-500', key: 'delivered', min: 99, unit: ' %', digits: 1 },
  { title: 'chunks in time at 5,000 streams', scenario: 'paced-5000', key: 'delivered', min: 99, unit: ' %', digits: 1 },
  { title: 'memory a stream at 5,000', scenario: 'paced-5000', key: 'perStream', max: 17, unit: ' kB', digits: 1 },
  { title: 'request of 200 kB, req/s, of nginx', ...createContenderGoal('nginx', 'body-200k', 'perSecond', { min: 0.3 }) },
  { title: 'request of 200 kB, req/s, of Portkey', ...createContenderGoal('portkey', 'body-200k', 'perSecond', { min: 12 }, 1) },
  {
    title: 'request of 1 MB with an image, req/s, of nginx',
    ...createContenderGoal('nginx', 'body-1m', 'perSecond', { min: 0.45 }),
  },
  {
    title: 'request of 1 MB with an image, req/s, of Portkey',
    ...createContenderGoal('portkey', 'body-1m', 'perSecond', { min: 12 }, 1),
  },
  { title: 'add-in gateway, unary req/s, of nginx', ...createContenderGoal('nginx', 'addin', 'perSecond', { min: 0.3 }) },
  {
    title: 'add-in gateway, streams without pauses, chunks/s, of nginx',
    ...createContenderGoal('nginx', 'addin-streams', 'chunksPerSecond', { min: 0.3 }),
  },
  { title: 'Messages dialect relayed, CPU a chunk, of a relayed chat stream', ...createStreamGoal('messages-relayed', 1.2) },
  {
    title: 'Messages dialect translated, CPU a chunk, of a relayed chat stream',
    ...createStreamGoal('messages-translated', 2.2),
  },
  { title: 'Responses relayed, CPU a chunk, of a relayed chat stream', ...createStreamGoal('responses-relayed', 1.15) },
  { title: 'Responses translated, CPU a chunk, of a relayed chat stream', ...createStreamGoal('responses-translated', 2.5) },
  { title: 'admitting a call, in memory', scenario: 'admit', key: 'micros', max: 5, unit: ' µs', digits: 2 },
  {
    title: 'admitting a call with a consent, in memory',
    scenario: 'admit',
    key: 'consentMicros',
    max: 5,
    unit: ' µs',
    digits: 2,
  },
  { title: 'commands to Redis for each admitted call', scenario: 'admit', key: 'roundTrips', max: 1, unit: '', digits: 2 },
  { title: 'durable consents into SQLite a second', scenario: 'admit', key: 'stored', min: 1000, unit: '', digits: 0 },
  { title: 'the loop of a quick app, CPU a turn', scenario: 'quick-app', key: 'loopMicros', max: 1000, unit: ' µs', digits: 0 },
  { title: 'stages in time, 200 concurrent quick apps', scenario: 'quick-app', key: 'inTime', min: 99, unit: ' %', digits: 1 },
  { title: 'seconds to ready, embedded default', scenario: 'start', key: 'seconds', max: 0.8, unit: ' s', digits: 2 },
  { title: 'memory idle, the service', scenario: 'start', key: 'serviceMb', max: 110, unit: ' MB', digits: 0 },
  { title: 'memory idle, the add-in gateway', scenario: 'start', key: 'addinMb', max: 70, unit: ' MB', digits: 0 },
];

function judge(goal: Goal, scenario: Scenario, samples: Samples): Verdict {
  const otherScenario =
    goal.divisorScenario === undefined ? undefined : scenarios.find(({ name }) => name === goal.divisorScenario);
  const denominator = { scenario: otherScenario ?? scenario, contender: goal.divisor ?? 'parley' } as const;
  const isRatio = goal.divisor !== undefined || otherScenario !== undefined;
  const measured = isRatio
    ? samples.computeRatio(goal.key, { scenario, contender: 'parley' }, denominator)
    : samples.computeSpread(scenario, 'parley', goal.key);
  const target = goal.min === undefined ? `≤ ${goal.max}${goal.unit}` : `≥ ${goal.min}${goal.unit}`;
  const { title, digits } = goal;
  const wasMeasured = samples.has(scenario, 'parley') && samples.has(denominator.scenario, denominator.contender);
  if (!measured) return { title, target, digits, measured, isMet: wasMeasured ? false : undefined };
  const isMet =
    measured.median >= (goal.min ?? Number.NEGATIVE_INFINITY) && measured.median <= (goal.max ?? Number.POSITIVE_INFINITY);
  return { title, target, digits, measured, isMet };
}

/** Judges the medians against the goals of Parley. */
export function judgeGoals(samples: Samples): Verdict[] {
  return goals.flatMap((goal) => {
    const scenario = scenarios.find(({ name }) => name === goal.scenario);
    return scenario ? [judge(goal, scenario, samples)] : [];
  });
}
