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

/** Upstreams that share a column. A cell names those that differ from the first. */
type Column = readonly DialectName[];

const models: readonly Column[] = [['anthropic'], ['bedrock'], ['gemini', 'vertex'], ['mistral']];
const chatColumns: readonly Column[] = [['responses'], ...models];

/** The tables of docs/compatibility.md by the names of their markers. */
const tables: Readonly<Record<string, () => string>> = {
  chat: () => differences(requestFeatures, chatColumns),
  reply: () => differences(replyFeatures, chatColumns),
  messages: () => differences(messagesFeatures, [['openai', 'azure'], ['responses'], ...models.slice(1), ['application']]),
  responses: () => differences(responsesFeatures, [['openai', 'azure'], ...models, ['application']]),
};

/** Returns docs/compatibility.md with regenerated tables between its markers. */
export function compatibilityPage(): string {
  const page = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8');
  return page.replace(
    /(<!-- table: (\w+)[^>]*-->\n).*?(<!-- end -->)/gs,
    (_, start: string, name: string, end: string) => `${start}\n${tables[name]?.() ?? ''}\n${end}`,
  );
}

/** Returns a table of the features that at least two columns handle differently, and lists of the other features. */
function differences(features: readonly Feature[], columns: readonly Column[]): string {
  const rows = features.map(({ name, cells }) => ({ name, texts: columns.map((column) => toText(cells, column)) }));
  const groups = Map.groupBy(rows, ({ texts }) => texts.join(' | '));
  const lines = { table: '', equal: '', exceptions: '' };
  for (const [row, all] of groups) {
    const [usual = '', ...exceptions] = toSummary(all[0]?.texts ?? [], columns);
    const names = all.map(({ name }) => name).join(', ');
    if (exceptions.length === 0) lines.equal += `- ${usual}: ${names}\n`;
    else if (exceptions.length === 1) lines.exceptions += `- ${names}: ${usual}, but ${exceptions[0]}\n`;
    else lines.table += `| ${names} | ${row} |\n`;
  }
  const head = `| Part | ${columns.map((column) => toName(column, ', ')).join(' | ')} |\n|---${'|---'.repeat(columns.length)}|\n`;
  return `${head}${lines.table}\nOther parts:\n\n${lines.equal}${lines.exceptions}`;
}

/** Returns the most common text of a row, followed by the columns that differ from it. */
function toSummary(texts: readonly string[], columns: readonly Column[]): readonly string[] {
  const count = (text: string): number => texts.filter((each) => each === text).length;
  const [usual = ''] = texts.toSorted((left, right) => count(right) - count(left));
  return [usual, ...columns.flatMap((column, at) => (texts[at] === usual ? [] : [`${toName(column, ' and ')} ${texts[at]}`]))];
}

function toName(column: Column, separator: string): string {
  return column.map((name) => `\`${name}\``).join(separator);
}

function toText(cells: Feature['cells'], [first, ...rest]: Column): string {
  if (first === undefined) return '';
  const usual = describe(cells[first]);
  const unusual = rest.filter((name) => describe(cells[name]) !== usual).map((name) => `\`${name}\` ${describe(cells[name])}`);
  return [usual, ...unusual].join(', ');
}

const signs: Readonly<Record<Cell['fate'], string>> = { carried: '✓', lost: '–', refused: '400', none: 'n/a' };

function describe({ fate, how }: Cell): string {
  return how === undefined ? signs[fate] : `${signs[fate]} (${how})`;
}
