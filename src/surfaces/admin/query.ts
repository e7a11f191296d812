import { dayMs } from '#base/time/clock.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { UsageFilter } from '#domain/usage/journal.ts';
import { type Query, readLimit, readText } from '../http/query.ts';

/** Parameters that filter the calls of all users. */
export const filterNames = ['user', 'key', 'project', 'deployment', 'requestId', 'session'] as const;

export function readFilter(query: Query): UsageFilter {
  return {
    subject: readText(query, 'user'),
    keyId: readText(query, 'key'),
    // An empty string is a valid value. It selects calls without a project.
    project: query.project === '' ? '' : readText(query, 'project'),
    deployment: readText(query, 'deployment'),
    requestId: readText(query, 'requestId'),
    session: readText(query, 'session'),
  };
}

/** Maximum and default of the parameter `limit`. */
export const pageLimit = { max: 500, fallback: 50 } as const;

/** Position in a list, after a record. */
export interface Cursor {
  readonly atMs: number;
  readonly id: string;
}

/** Returns the size of a page, and the position after which it starts. Throws `invalid_request`. */
export function readPage(query: Query): { readonly limit: number; readonly beforeMs: number; readonly beforeId: string } {
  const { atMs: beforeMs = Number.POSITIVE_INFINITY, id: beforeId = '' } = readCursor(query) ?? {};
  return { limit: readLimit(query, pageLimit), beforeMs, beforeId };
}

interface ItemConversion<Item> {
  readonly toCursor: (item: Item) => Cursor;
  readonly toItem: (item: Item) => object;
}

/** Returns a page. `items` must have one item more than `limit` if another page follows. */
export function toPage<Item>(items: readonly Item[], limit: number, { toCursor, toItem }: ItemConversion<Item>) {
  const data = items.slice(0, limit);
  const last = items.length > limit ? data.at(-1) : undefined;
  return { object: 'list', data: data.map(toItem), nextToken: last === undefined ? null : toToken(toCursor(last)) } as const;
}

function toToken({ atMs, id }: Cursor): string {
  return Buffer.from(`${atMs} ${id}`).toString('base64url');
}

/** Decodes the parameter `token`, the position of the last record of the previous page. Throws `invalid_request`. */
export function readCursor(query: Query): Cursor | undefined {
  const token = readText(query, 'token');
  if (token === undefined) return undefined;
  const [, atMs, id] = /^(-?\d{1,15}) ([^\0]*)$/s.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (atMs === undefined || id === undefined) throw createRequestError('token', 'must be the nextToken of the previous page');
  return { atMs: Number(atMs), id };
}

const maxDays = 366;
const defaultDays = 30;

/** Days as `YYYY-MM-DD` in UTC. */
export interface DayRange {
  readonly from: string;
  /** Last day (inclusive). */
  readonly to: string;
}

/** Reads `from` and `to`. The default is the last 30 days. Throws `invalid_request`. */
export function readDayRange(query: Query, nowMs: number): DayRange {
  const to = readDay(query, 'to') ?? toDay(nowMs);
  const from = readDay(query, 'from') ?? toDay(Date.parse(to) - (defaultDays - 1) * dayMs);
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (days < 1) throw createRequestError('from', 'must not be after to');
  if (days > maxDays) throw createRequestError('from', `must be at most ${maxDays - 1} days before to`);
  return { from, to };
}

/** Returns the first millisecond of the days, and the first millisecond after them. */
export function toTimeRange({ from, to }: DayRange): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) + dayMs };
}

function readDay(query: Query, name: string): string | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  const dayStartMs = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(dayStartMs) || toDay(dayStartMs) !== text) throw createRequestError(name, 'must be a day such as 2026-11-21');
  return text;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
