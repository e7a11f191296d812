import type { LimitKind, Period } from './read-limits.ts';

const units: Readonly<Record<LimitKind, string>> = { Token: 'tokens', Request: 'requests', Cost: 'spent' };
const periods: Readonly<Record<Period, string>> = {
  minute: 'a minute',
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
};

/** Everything the page of usage says. Another language has the same keys (`UsageWords`). */
export const usageEnglish = {
  title: 'Usage',
  refresh: 'Refresh',
  limits: 'Your limits',
  noLimits: 'No limits hold for you.',
  allDeployments: 'All deployments together',
  limitName: (kind: LimitKind, period: Period) =>
    kind === 'Cost' ? `USD ${periods[period]}` : `${units[kind]} ${periods[period]}`,
  ofTotal: (used: string, total: string) => `${used} of ${total}`,
  left: (left: string) => `${left} left`,
  usedUp: 'used up',
  resets: (when: string) => `resets ${when}`,
  moreLimits: (count: number) => (count === 1 ? 'One more deployment' : `${count} more deployments`),

  used: 'What was used',
  scope: 'Whose',
  own: 'Yours',
  all: 'Everybody’s',
  range: 'Days',
  lastDays: (count: number) => `${count} days`,
  custom: 'Other days',
  from: 'From',
  to: 'To',
  badRange: 'Choose a first day that is not after the last, at most 366 days in all.',
  measure: 'Show',
  cost: 'Cost',
  tokens: 'Tokens',
  calls: 'Calls',
  tokensIn: 'Tokens in',
  tokensOut: 'Tokens out',
  answered: 'Answered',
  refused: 'Refused',
  failed: 'Failed',
  summary: (calls: string, tokens: string, cost: string) =>
    `${calls} ${calls === '1' ? 'call' : 'calls'}, ${tokens} ${tokens === '1' ? 'token' : 'tokens'}, ${cost}`,
  nothing: 'Nothing was used on these days.',
  chart: (measure: string) => `${measure} by day`,
  stackedBy: 'Bars of',
  ofDeployments: 'Models and applications',
  ofKinds: 'Kinds',
  ofPeople: 'People',
  ofProjects: 'Projects',
  others: 'All others',
  nobody: 'without a name',
  chartCut: 'There is more than fits: choose fewer days to see all of it.',
  asTable: 'As a table',
  day: 'Day',
  byDeployment: 'By deployment',
  deployment: 'Deployment',
  byPerson: 'By person',
  person: 'Person',
  innerNote:
    'An application’s calls and tokens hold those of what it called, which stand here too: bars and rows add up to more than the sum above. What that cost stands with the model.',
  utcNote: 'Days are those of UTC.',
  cutNote: (count: string) => `These are the first ${count}. The rest is in the download.`,
  csv: 'Download as CSV',
  csvCut: (count: string) => `The download holds the first ${count} rows only. Choose fewer days for all of them.`,
};

export type UsageWords = typeof usageEnglish;
