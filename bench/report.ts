import { type ContenderName, contenderNames } from './contenders.ts';
import { judgeGoals, type Verdict } from './goals.ts';
import type { Samples } from './samples.ts';
import type { Metric, Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import type { Spread } from './statistics.ts';

const titles: Record<ContenderName, string> = {
  direct: 'direct',
  nginx: 'nginx',
  bare: 'bare Node',
  portkey: 'Portkey',
  before: 'before',
  parley: 'Parley',
};

function toNumber(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function toCell(spread: Spread | undefined, digits: number): string {
  if (!spread) return '—';
  const median = toNumber(spread.median, digits);
  if (spread.count === 1) return median;
  return `${median} [${toNumber(spread.min, digits)}..${toNumber(spread.max, digits)}]`;
}

function toTable(header: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map((_, index) => (index ? '---:' : '---'))), ...rows.map(line)].join('\n');
}

function toScenarioPart(scenario: Scenario, samples: Samples): string {
  const present = contenderNames.filter((name) => samples.has(scenario, name));
  const { key } = scenario.comparedMetric;
  const toRatio = (metric: Metric, under: ContenderName): string =>
    present.includes('parley') && present.includes(under)
      ? toCell(samples.computeContenderRatio(scenario, metric.key, 'parley', under), 2)
      : '';
  const rows = scenario.metrics.map((metric) => {
    const cells = present.map((name) => toCell(samples.computeSpread(scenario, name, metric.key), metric.digits));
    return [metric.title, ...cells, ...(metric.key === key ? [toRatio(metric, 'nginx'), toRatio(metric, 'portkey')] : ['', ''])];
  });
  const header = [scenario.name, ...present.map((name) => titles[name]), 'Parley / nginx', 'Parley / Portkey'];
  const columns = present.includes('parley') ? header.length : header.length - 2;
  const truncate = (row: string[]): string[] => row.slice(0, columns);
  return `### ${scenario.title}\n\n${toTable(truncate(header), rows.map(truncate))}`;
}

function toMark(isMet: boolean | undefined): string {
  if (isMet === undefined) return 'not measured';
  return isMet ? '✓' : '✗ missed';
}

function toGoalsPart(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ title, target, measured, digits, isMet }) => [
    title,
    target,
    toCell(measured, digits),
    toMark(isMet),
  ]);
  return `## Goals\n\n${toTable(['goal', 'target', 'measured', ''], rows)}`;
}

function toErrorsPart(samples: Samples): string {
  const errors = samples.all.filter(({ error }) => error !== undefined);
  if (errors.length === 0) return '';
  const lines = errors.map(
    ({ round, scenario, contender, error }) => `- round ${round}, ${scenario}, ${titles[contender]}: ${error}`,
  );
  return `## Invalid runs\n\nTheir numbers are not used.\n\n${lines.join('\n')}\n\n`;
}

/** Returns the complete report in Markdown. `facts` are lines about the machine and the programs. */
export function toReport(samples: Samples, facts: readonly string[]): string {
  const measured = scenarios.filter(({ name }) => samples.all.some((sample) => sample.scenario === name));
  return `# Benchmarks

The contender has one core. A C upstream and a C load generator share the other core. All connections use loopback. In each round, the
contenders run in turn. Each contender is restarted for each load. Cells are medians [minimum..maximum] over the rounds. Ratios are
computed within a round. \`npm run bench\` generates this page.

${facts.map((fact) => `- ${fact}`).join('\n')}

${toGoalsPart(judgeGoals(samples))}

${toErrorsPart(samples)}## Measured

${measured.map((scenario) => toScenarioPart(scenario, samples)).join('\n\n')}
`;
}
