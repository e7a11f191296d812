import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { type Query, readText } from '../http/query.ts';

/** Formats of lists of rows. */
export const formats = ['json', 'csv', 'jsonl'] as const;
export type Format = (typeof formats)[number];

/** Returns the format of the response. Throws `invalid_request` for an unknown format. */
export function readFormat(query: Query): Format {
  const text = readText(query, 'format') ?? 'json';
  const format = formats.find((candidate) => candidate === text);
  if (format === undefined) throw createRequestError('format', `must be one of ${formats.join(', ')}`);
  return format;
}

/** Returns whether the query asks for all rows of its range, as a stream. A `limit` or `token` selects one page. */
export function isExport(query: Query): boolean {
  return readFormat(query) !== 'json' && readText(query, 'limit') === undefined && readText(query, 'token') === undefined;
}

/** Rows of a table. */
export interface Table {
  /** Fields of the rows, in the order of the columns. A row may lack some of them. */
  readonly columns: readonly string[];
  readonly pages: AsyncIterable<readonly object[]>;
}

/**
 * Sends all pages. The next page is read when the client has received the previous one. No page is read after the client
 * disconnects. An error of the first page has its own status. A later error ends the response early, so that the client can
 * recognize it.
 */
export async function sendTable(
  reply: FastifyReply,
  format: Exclude<Format, 'json'>,
  { columns, pages }: Table,
): Promise<unknown> {
  const iterator = pages[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* write(): AsyncGenerator<string> {
    try {
      if (format === 'csv') yield toCsvLine(columns);
      for (let page = first; page.done !== true; page = await iterator.next()) yield toLines(format, columns, page.value);
    } finally {
      await iterator.return?.();
    }
  }
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8';
  return reply.type(type).send(Readable.from(write()));
}

/** Yields all pages of a list. `read` returns the page after an item. A page with fewer than `size` items is the last one. */
export async function* readPages<Item>(
  size: number,
  read: (after: Item | undefined) => Promise<readonly Item[]>,
  toRow: (item: Item) => object,
): AsyncGenerator<readonly object[]> {
  let after: Item | undefined;
  do {
    const items = await read(after);
    yield items.map(toRow);
    after = items.length < size ? undefined : items.at(-1);
  } while (after !== undefined);
}

function toLines(format: Exclude<Format, 'json'>, columns: readonly string[], rows: readonly object[]): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return rows
    .map((row) => {
      const values = new Map<string, unknown>(Object.entries(row));
      return toCsvLine(columns.map((name) => values.get(name)));
    })
    .join('');
}

/** Returns a line of CSV (RFC 4180). */
function toCsvLine(values: readonly unknown[]): string {
  return `${values.map(toCell).join(',')}\r\n`;
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = Array.isArray(value) ? value.join(' > ') : isJsonObject(value) ? toTagText(value) : String(value);
  // A spreadsheet runs a cell that begins with one of these characters as a formula, and users choose their own names.
  const safeText = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText;
}

/** Returns tags as in `X-Parley-Tags`. */
function toTagText(tags: JsonObject): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}
