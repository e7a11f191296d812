import { readFileSync } from 'node:fs';
import {
  type Cell,
  type DialectName,
  type Feature,
  messagesFeatures,
  replyFeatures,
  requestFeatures,
  responsesFeatures,
} from './upstream-features.ts';

const vendors: readonly DialectName[] = ['bedrock', 'gemini', 'vertex', 'mistral'];

/** The lists of docs/compatibility.md by the names of their markers. Upstreams that relay the call are not in a list. */
const lists: Readonly<Record<string, () => string>> = {
  chat: () => toList(requestFeatures, ['responses', 'anthropic', ...vendors]),
  reply: () => toList(replyFeatures, ['responses', 'anthropic', ...vendors]),
  messages: () => toList(messagesFeatures, ['openai', 'azure', 'responses', ...vendors, 'application']),
  responses: () => toList(responsesFeatures, ['openai', 'azure', 'anthropic', ...vendors, 'application']),
};

/** Returns docs/compatibility.md with regenerated lists between its markers. */
export function compatibilityPage(): string {
  const page = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8');
  return page.replace(
    /(<!-- list: (\w+)[^>]*-->\n).*?(<!-- end -->)/gs,
    (_, start: string, name: string, end: string) => `${start}\n${lists[name]?.() ?? ''}\n${end}`,
  );
}

/** Returns a list of features, first those that all upstreams handle equally. Features with equal cells share a line. */
function toList(features: readonly Feature[], upstreams: readonly DialectName[]): string {
  const groups = Map.groupBy(features, ({ cells }) => upstreams.map((name) => describe(cells[name])).join());
  const lines = [...groups.values()].map((all) => {
    const [usual, ...exceptions] = summarize(all[0]?.cells, upstreams);
    const names = all.map(({ name }) => name).join(', ');
    return {
      isEqual: exceptions.length === 0,
      text: exceptions.length === 0 ? `${usual}: ${names}` : `${names}: ${[usual, ...exceptions].join('. ')}`,
    };
  });
  const sorted = [...lines.filter(({ isEqual }) => isEqual), ...lines.filter(({ isEqual }) => !isEqual)];
  return sorted.map(({ text }) => `- ${text}\n`).join('');
}

/** Returns the most common cell, and the cells that differ from it with their upstreams. */
function summarize(cells: Feature['cells'] | undefined, upstreams: readonly DialectName[]): readonly string[] {
  if (cells === undefined) return [];
  const groups = Map.groupBy(upstreams, (name) => describe(cells[name]));
  const sorted = [...groups.values()].toSorted((left, right) => right.length - left.length);
  const usual = cells[sorted[0]?.[0] ?? 'openai'];
  const exceptions = sorted.slice(1).map((names) => {
    const cell = cells[names[0] ?? 'openai'];
    const text = cell.fate === usual.fate && cell.how !== undefined ? cell.how : describe(cell);
    return `${names.map((name) => `\`${name}\``).join(', ')}: ${text}`;
  });
  return [describe(usual), ...exceptions];
}

const signs: Readonly<Record<Cell['fate'], string>> = { carried: '✓', lost: '–', refused: '400', none: 'n/a' };

function describe({ fate, how }: Cell): string {
  return how === undefined ? signs[fate] : `${signs[fate]} (${how})`;
}
