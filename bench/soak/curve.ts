import type { Reading } from './readings.ts';

const barWidth = 60;
const inMegabytes = (bytes: number | undefined): string => (bytes === undefined ? '–' : (bytes / 1e6).toFixed(0));

type Column = readonly [title: string, of: (reading: Reading) => string];

const columns: readonly Column[] = [
  ['minute', ({ minute }) => minute.toFixed(0)],
  ['RSS', ({ rss }) => inMegabytes(rss)],
  ['own pages', ({ anonymous }) => inMegabytes(anonymous)],
  ['heap used', ({ heapUsed }) => inMegabytes(heapUsed)],
  ['heap', ({ heap }) => inMegabytes(heap)],
  ['array buffers', ({ arrayBuffers }) => inMegabytes(arrayBuffers)],
  ['other external', ({ external }) => inMegabytes(external)],
  ['native', ({ native }) => inMegabytes(native)],
  [
    'caches',
    ({ caches }) => inMegabytes(caches.size === 0 ? undefined : [...caches.values()].reduce((sum, size) => sum + size, 0)),
  ],
];

/** Returns a row of a Markdown table: the titles, or the values of one reading. */
export function toRow(reading: Reading | undefined): string {
  const cells = columns.map(([title, of]) => (reading === undefined ? title : of(reading)).padStart(title.length));
  return `| ${cells.join(' | ')} |`;
}

export const ruler = `|${columns.map(([title]) => `${'-'.repeat(title.length + 1)}:`).join('|')}|`;

/** Returns a bar chart of RSS per minute. */
export function toChart(readings: readonly Reading[]): string {
  const most = Math.max(...readings.map(({ rss }) => rss));
  const bars = readings.map(({ minute, rss }) => {
    const bar = '█'.repeat(Math.round((rss / most) * barWidth));
    return `${minute.toFixed(0).padStart(4)} ${bar.padEnd(barWidth)} ${inMegabytes(rss)} MB`;
  });
  return bars.join('\n');
}

/** Returns the maximum and final size of each cache. */
export function toCacheLines(readings: readonly Reading[]): string {
  const names = new Set(readings.flatMap(({ caches }) => [...caches.keys()]));
  const lines = [...names].map((name) => {
    const sizes = readings.map(({ caches }) => caches.get(name) ?? 0);
    return `cache ${name}: at most ${(Math.max(...sizes) / 1000).toFixed(0)} kB, at the end ${((sizes.at(-1) ?? 0) / 1000).toFixed(0)} kB`;
  });
  return lines.join('\n');
}
