import type { Reading } from './readings.ts';

const barWidth = 60;
const toMegabytes = (bytes: number | undefined): string => (bytes === undefined ? '–' : (bytes / 1e6).toFixed(0));

type Column = readonly [title: string, of: (reading: Reading) => string];

const columns: readonly Column[] = [
  ['minute', ({ minute }) => minute.toFixed(0)],
  ['RSS', ({ rss }) => toMegabytes(rss)],
  ['own pages', ({ anonymous }) => toMegabytes(anonymous)],
  ['heap used', ({ heapUsed }) => toMegabytes(heapUsed)],
  ['heap', ({ heap }) => toMegabytes(heap)],
  ['array buffers', ({ arrayBuffers }) => toMegabytes(arrayBuffers)],
  ['other external', ({ external }) => toMegabytes(external)],
  ['native', ({ native }) => toMegabytes(native)],
  [
    'caches',
    ({ caches }) => toMegabytes(caches.size === 0 ? undefined : [...caches.values()].reduce((sum, size) => sum + size, 0)),
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
  const maxRss = Math.max(...readings.map(({ rss }) => rss));
  const bars = readings.map(({ minute, rss }) => {
    const bar = '█'.repeat(Math.round((rss / maxRss) * barWidth));
    return `${minute.toFixed(0).padStart(4)} ${bar.padEnd(barWidth)} ${toMegabytes(rss)} MB`;
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
