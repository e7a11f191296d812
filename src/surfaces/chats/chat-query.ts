import { tryParseJson } from '#base/json.ts';
import { requestFault } from '#contract/request-fault.ts';
import type { ChatListQuery, ChatMark } from '#domain/chats/chat-store.ts';

/** Parameters of an address as they came. */
export type Query = Readonly<Record<string, unknown>>;

const mostOnPage = 500;
const usualOnPage = 100;
const mostWords = 20;
const mostQueryChars = 500;

/** Which chats are listed. Throws invalid_request with the name of the parameter. */
export function readListQuery(query: Query): ChatListQuery {
  return { limit: readLimit(query), archived: readFlag(query, 'archived'), after: readToken(query.token) };
}

/** How many are asked for. */
export function readLimit(query: Query): number {
  const limit = readNumber(query, 'limit') ?? usualOnPage;
  if (limit < 1 || limit > mostOnPage) throw requestFault('limit', `must be a whole number from 1 to ${mostOnPage}`);
  return limit;
}

/** The words that must stand in what is found, in lower case; undefined if nothing is looked for. */
export function readWords({ query }: Query): readonly string[] | undefined {
  if (query === undefined || query === '') return undefined;
  if (typeof query !== 'string') throw requestFault('query', 'may be given once');
  if (query.length > mostQueryChars) throw requestFault('query', `must have at most ${mostQueryChars} characters`);
  const words = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))];
  if (words.length > mostWords) throw requestFault('query', `must have at most ${mostWords} words`);
  return words.length === 0 ? undefined : words;
}

/** Whether excerpts are asked for. */
export function readExcerpts(query: Query): boolean {
  return readFlag(query, 'excerpts');
}

export function toToken({ shelf, updatedAtMs, id }: ChatMark): string {
  return Buffer.from(JSON.stringify([shelf, updatedAtMs, id])).toString('base64url');
}

function readToken(token: unknown): ChatMark | undefined {
  if (token === undefined || token === '') return undefined;
  const value = typeof token === 'string' ? tryParseJson(Buffer.from(token, 'base64url').toString()) : undefined;
  const [shelf, updatedAtMs, id] = Array.isArray(value) ? value : [];
  if (Number.isSafeInteger(shelf) && Number.isSafeInteger(updatedAtMs) && typeof id === 'string' && !id.includes('\0'))
    return { shelf, updatedAtMs, id };
  throw requestFault('token', 'must be the nextToken of the page before');
}

/** After which revision; 0 for everything. */
export function readSince(query: Query): number {
  return readNumber(query, 'since') ?? 0;
}

function readNumber(query: Query, name: string): number | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) throw requestFault(name, 'must be a whole number');
  return Number(value);
}

function readFlag(query: Query, name: string): boolean {
  const value = query[name] ?? 'false';
  if (value !== 'true' && value !== 'false') throw requestFault(name, 'must be true or false');
  return value === 'true';
}
