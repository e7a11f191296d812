import type { JsonObject } from '#base/json/json.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { countPageItems, type ItemPage, type ItemQuery } from '#domain/responses/conversation-store.ts';
import { toVisibleItem } from '#domain/responses/stored-items.ts';
import { type Query, readLimit, readText } from '../../http/query.ts';

const itemLimit = { max: 100, fallback: 20 };
/** Maximum size of a page, so that many pages that clients have not read yet fit into the memory. */
const maxPageBytes = 2 * 1024 ** 2;

/** Parses the paging parameters of a list. Throws `invalid_request` with the name of the parameter. */
export function readItemQuery(query: Query): ItemQuery {
  const order = readText(query, 'order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw createRequestError('order', 'must be asc or desc');
  const bounds = { limit: readLimit(query, itemLimit), maxBytes: maxPageBytes };
  return { ...bounds, order, after: readText(query, 'after'), before: readText(query, 'before') };
}

/** Returns the values of `include` and `include[]`, which may be repeated. */
export function readInclude(query: Query): ReadonlySet<string> {
  const includes = [query.include, query['include[]']].flat().filter((value) => value !== undefined);
  return new Set(includes.map(String));
}

const pageBounds = ['after', 'before'] as const;

/** Collects one page from items that are added in the order of the query. Retains only the items of the page. */
export class PageCollector {
  readonly #query: ItemQuery;
  /** Items of the query that were not added yet. */
  readonly #missingParams: Set<'after' | 'before'>;
  /** Items of the page with their sizes. */
  #entries: { readonly item: JsonObject; readonly bytes: number }[] = [];
  #hasMore = false;

  constructor(query: ItemQuery) {
    this.#query = query;
    this.#missingParams = new Set(pageBounds.filter((bound) => query[bound] !== undefined));
  }

  /** Whether further items cannot change the page. */
  get isComplete(): boolean {
    return this.#missingParams.size === 0 && (this.#hasMore || this.#query.before !== undefined);
  }

  add(item: JsonObject): void {
    const { after, before } = this.#query;
    const isAfter = item.id === after && this.#missingParams.delete('after');
    const isBefore = item.id === before && this.#missingParams.delete('before');
    const isInRange = !this.#missingParams.has('after') && (before === undefined || this.#missingParams.has('before'));
    if (isAfter || isBefore || !isInRange) return;
    // With only `before`, the page contains the items closest to that item.
    const isBackward = before !== undefined && after === undefined;
    if (this.#hasMore && !isBackward) return;
    const entries = [...this.#entries, { item, bytes: JSON.stringify(item).length }];
    const count = countPageItems(isBackward ? entries.toReversed() : entries, this.#query);
    this.#hasMore ||= count < entries.length;
    this.#entries = isBackward ? entries.slice(-count) : entries.slice(0, count);
  }

  /** Returns the page. Throws `invalid_request` if an item of the query does not exist. */
  end(): ItemPage {
    const [missing] = this.#missingParams;
    if (missing !== undefined) throw createUnknownItemError(missing);
    return { items: this.#entries.map(({ item }) => item), hasMore: this.#hasMore };
  }
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
