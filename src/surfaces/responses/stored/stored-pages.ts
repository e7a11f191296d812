import type { JsonObject } from '#base/json/json.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { ItemPage, ItemQuery } from '#domain/responses/conversation-store.ts';
import { toVisibleItem } from '#domain/responses/stored-items.ts';
import { type Query, readLimit, readText } from '../../http/query.ts';

const itemLimit = { max: 100, fallback: 20 };

/** Parses the paging parameters of a list. Throws `invalid_request` with the name of the parameter. */
export function readItemQuery(query: Query): ItemQuery {
  const order = readText(query, 'order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw createRequestError('order', 'must be asc or desc');
  return { limit: readLimit(query, itemLimit), order, after: readText(query, 'after'), before: readText(query, 'before') };
}

/** Returns the values of `include` and `include[]`, which may be repeated. */
export function readInclude(query: Query): ReadonlySet<string> {
  const includes = [query.include, query['include[]']].flat().filter((value) => value !== undefined);
  return new Set(includes.map(String));
}

/** Returns a page of a complete list, which must be sorted from oldest to newest. */
export function toPage(all: readonly JsonObject[], { limit, order, after, before }: ItemQuery): ItemPage {
  const items = order === 'asc' ? all : all.toReversed();
  const from = after === undefined ? 0 : findPosition(items, 'after', after) + 1;
  const to = before === undefined ? items.length : findPosition(items, 'before', before);
  const rangeItems = items.slice(from, Math.max(from, to));
  // With only `before`, the page contains the items closest to that item.
  const page = before !== undefined && after === undefined ? rangeItems.slice(-limit) : rangeItems.slice(0, limit);
  return { items: page, hasMore: rangeItems.length > page.length };
}

function findPosition(items: readonly JsonObject[], param: 'after' | 'before', id: string): number {
  const position = items.findIndex((item) => item.id === id);
  if (position < 0) throw createUnknownItemError(param);
  return position;
}

export function createUnknownItemError(param: 'after' | 'before'): ParleyError {
  return createRequestError(param, 'is not the ID of an item in this list');
}

/** Returns a page of items as a list object of the API. */
export function toItemList({ items, hasMore }: ItemPage, include: ReadonlySet<string>): JsonObject {
  return toList(
    items.map((item) => toVisibleItem(item, include)),
    hasMore,
  );
}

/** Returns a page as a list object of the API. */
export function toList(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  const first_id = data[0]?.id ?? null;
  const last_id = data.at(-1)?.id ?? null;
  return { object: 'list', data, first_id, last_id, has_more: hasMore };
}
