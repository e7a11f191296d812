import { readFileSync } from 'node:fs';
import {
  type Cell,
  callerDialects,
  type DialectName,
  deliveryModes,
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
  apis: waysTable,
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

function waysTable(): string {
  const head = `| Upstream | ${callerDialects.join(' | ')} |\n|---${'|---'.repeat(callerDialects.length)}|\n`;
  return head + deliveryModes.map((row) => `| ${row.join(' | ')} |\n`).join('');
}

/** Returns a table of the features that differ between columns, and a list of the others. */
function differences(features: readonly Feature[], columns: readonly Column[]): string {
  const rows = features.map(({ name, cells }) => ({ name, texts: columns.map((column) => toText(cells, column)) }));
  const isSame = ({ texts }: (typeof rows)[number]): boolean => new Set(texts).size === 1;
  const head = `| Part | ${columns.map((column) => column.map((name) => `\`${name}\``).join(', ')).join(' | ')} |\n`;
  const table = rows.filter((row) => !isSame(row)).map(({ name, texts }) => `| ${name} | ${texts.join(' | ')} |\n`);
  const same = Map.groupBy(rows.filter(isSame), ({ texts: [text = ''] }) => text);
  const list = [...same].map(([text, all]) => `- ${text}: ${all.map(({ name }) => name).join(' · ')}\n`);
  return `${head}|---${'|---'.repeat(columns.length)}|\n${table.join('')}\nAll of these upstreams:\n\n${list.join('')}`;
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
