import type { ContenderName } from './contenders.ts';
import type { Samples } from './samples.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import type { Spread } from './statistics.ts';

/** A goal with what was measured; `isMet` is undefined when its contenders were not run. */
export interface Verdict {
  title: string;
  wanted: string;
  digits: number;
  measured: Spread | undefined;
  isMet: boolean | undefined;
}

interface Goal {
  title: string;
  scenario: string;
  key: string;
  /** The contender Parley's value is divided by; without it the value itself is judged. */
  per?: ContenderName;
  /** The scenario whose value of Parley's own it is divided by. */
  perScenario?: string;
  least?: number;
  most?: number;
  unit: string;
  digits: number;
}

const goals: readonly Goal[] = [
  { title: 'unary req/s, of nginx', scenario: 'unary', key: 'perSecond', per: 'nginx', least: 0.25, unit: '×', digits: 2 },
  { title: 'unary req/s, of Portkey', scenario: 'unary', key: 'perSecond', per: 'portkey', least: 12, unit: '×', digits: 1 },
  {
    title: 'streams at once, chunks/s, of nginx',
    scenario: 'streams',
    key: 'chunksPerSecond',
    per: 'nginx',
    least: 0.3,
    unit: '×',
    digits: 2,
  },
  {
    title: 'streams at once, chunks/s, of Portkey',
    scenario: 'streams',
    key: 'chunksPerSecond',
    per: 'portkey',
    least: 12,
    unit: '×',
    digits: 1,
  },
  { title: 'added p50 at 500 req/s', scenario: 'latency', key: 'addedP50', most: 0.2, unit: ' ms', digits: 3 },
  {
    title: 'p99 at 500 req/s (the whole of it, not only what is added)',
    scenario: 'latency',
    key: 'p99',
    most: 2,
    unit: ' ms',
    digits: 3,
  },
  {
    title: 'CPU a paced chunk at 500 streams, of nginx',
    scenario: 'paced-500',
    key: 'cpuPerChunk',
    per: 'nginx',
    most: 2.3,
    unit: '×',
    digits: 2,
  },
  { title: 'chunks in time at 500 streams', scenario: 'paced-500', key: 'delivered', least: 99, unit: ' %', digits: 1 },
  { title: 'chunks in time at 5,000 streams', scenario: 'paced-5000', key: 'delivered', least: 99, unit: ' %', digits: 1 },
  { title: 'memory a stream at 5,000', scenario: 'paced-5000', key: 'perStream', most: 32, unit: ' kB', digits: 1 },
  {
    title: 'add-in gateway, unary req/s, of nginx',
    scenario: 'addin',
    key: 'perSecond',
    per: 'nginx',
    least: 0.3,
    unit: '×',
    digits: 2,
  },
  {
    title: 'add-in gateway, streams at once, chunks/s, of nginx',
    scenario: 'addin-streams',
    key: 'chunksPerSecond',
    per: 'nginx',
    least: 0.3,
    unit: '×',
    digits: 2,
  },
  {
    title: 'Messages dialect relayed, CPU a chunk, of a relayed chat stream',
    scenario: 'messages-relayed',
    key: 'cpuPerChunk',
    perScenario: 'streams',
    most: 1.2,
    unit: '×',
    digits: 2,
  },
  {
    title: 'Messages dialect translated, CPU a chunk, of a relayed chat stream',
    scenario: 'messages-translated',
    key: 'cpuPerChunk',
    perScenario: 'streams',
    most: 4,
    unit: '×',
    digits: 2,
  },
  { title: 'a call let in, in memory', scenario: 'admit', key: 'micros', most: 5, unit: ' µs', digits: 2 },
  { title: 'a call let in, with a consent, in memory', scenario: 'admit', key: 'consentMicros', most: 5, unit: ' µs', digits: 2 },
  { title: 'commands to Redis a call let in', scenario: 'admit', key: 'roundTrips', most: 1, unit: '', digits: 2 },
  { title: 'durable consents into SQLite a second', scenario: 'admit', key: 'stored', least: 1000, unit: '', digits: 0 },
  { title: 'the loop of a quick app, CPU a turn', scenario: 'quick-app', key: 'loopMicros', most: 1000, unit: ' µs', digits: 0 },
  { title: 'stages in time, 200 quick apps at once', scenario: 'quick-app', key: 'inTime', least: 99, unit: ' %', digits: 1 },
];

function judge(goal: Goal, scenario: Scenario, samples: Samples): Verdict {
  const other = goal.perScenario === undefined ? undefined : scenarios.find(({ name }) => name === goal.perScenario);
  const under = { scenario: other ?? scenario, contender: goal.per ?? 'parley' } as const;
  const isRatio = goal.per !== undefined || other !== undefined;
  const measured = isRatio
    ? samples.ratioOf(goal.key, { scenario, contender: 'parley' }, under)
    : samples.spread(scenario, 'parley', goal.key);
  const wanted = goal.least === undefined ? `≤ ${goal.most}${goal.unit}` : `≥ ${goal.least}${goal.unit}`;
  const { title, digits } = goal;
  const wasTried = samples.has(scenario, 'parley') && samples.has(under.scenario, under.contender);
  if (!measured) return { title, wanted, digits, measured, isMet: wasTried ? false : undefined };
  const isMet =
    measured.median >= (goal.least ?? Number.NEGATIVE_INFINITY) && measured.median <= (goal.most ?? Number.POSITIVE_INFINITY);
  return { title, wanted, digits, measured, isMet };
}

/** Judges the medians against what Parley has to show. */
export function judgeGoals(samples: Samples): Verdict[] {
  return goals.flatMap((goal) => {
    const scenario = scenarios.find(({ name }) => name === goal.scenario);
    return scenario ? [judge(goal, scenario, samples)] : [];
  });
}
