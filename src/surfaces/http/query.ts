import { createRequestError } from '#contract/errors/request-error.ts';

/** Parsed query parameters. A repeated parameter has an array of texts. */
export type Query = Readonly<Record<string, unknown>>;

const digitsPattern = /^\d{1,15}$/;

/** Throws `invalid_request` if the query has a parameter that the endpoint does not know. */
export function requireKnown(query: Query, knownParams: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !knownParams.includes(name));
  if (unknown === undefined) return;
  const hint = knownParams.length === 0 ? 'It has no parameters' : `Its parameters are ${knownParams.join(', ')}`;
  throw createRequestError(unknown, `is not a parameter of this endpoint. ${hint}`);
}

/** Returns a parameter, or undefined if it is absent or empty. Throws `invalid_request` if it is repeated. */
export function readText(query: Query, name: string): string | undefined {
  const value = readValue(query, name);
  return value === '' ? undefined : value;
}

/** Returns a parameter that is `true` or `false`, or false if it is absent. Throws `invalid_request` for other values. */
export function readFlag(query: Query, name: string): boolean {
  const value = readValue(query, name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw createRequestError(name, 'must be true or false');
  return value === 'true';
}

/** Returns an integer of at least 0, or undefined if the parameter is absent or empty. Throws `invalid_request`. */
export function readInteger(query: Query, name: string): number | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  if (!digitsPattern.test(text)) throw createRequestError(name, 'must be an integer');
  return Number(text);
}

interface LimitBounds {
  readonly min?: number;
  readonly max: number;
  /** Value if the parameter is absent. */
  readonly fallback: number;
}

/** Returns the parameter `limit`. Throws `invalid_request` if it is empty or outside its bounds. */
export function readLimit(query: Query, { min = 1, max, fallback }: LimitBounds): number {
  const text = readValue(query, 'limit');
  if (text === undefined) return fallback;
  const limit = digitsPattern.test(text) ? Number(text) : Number.NaN;
  if (limit >= min && limit <= max) return limit;
  throw createRequestError('limit', `must be an integer from ${min} to ${max}`);
}

function readValue(query: Query, name: string): string | undefined {
  const value = Object.hasOwn(query, name) ? query[name] : undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw createRequestError(name, 'must occur only once');
}
