import { filterObjects, isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { ResponseStatus, RunningResponse, StoredResponse } from '#domain/responses/response-store.ts';
import { listItems } from '#domain/responses/stored-items.ts';
import { requireStorable } from '../engine/read-entry.ts';
import { openSealedObject } from '../open-sealed.ts';
import type { ResponseRow } from './response-tables.ts';

/** The sealed fields of a response. */
interface Content extends Pick<StoredResponse, 'response' | 'input' | 'items'> {}

/** Columns that are read. The owner is internal. */
export const readColumns = [
  'id',
  'subject',
  'status',
  'is_background',
  'previous_id',
  'created_at_ms',
  'expires_at_ms',
  'sealed_content',
] as const;
export type ReadRow = Pick<ResponseRow, (typeof readColumns)[number]>;

/** Fields that change when a response ends. */
export type EndedFields = Pick<ResponseRow, 'status' | 'bytes' | 'item_ids' | 'sealed_content'>;

/** Returns the row of a response that has ended. Throws `StoreError` for keys that cannot be stored. */
export function toRow(seal: Seal, stored: StoredResponse): ResponseRow {
  const { id, subject, previousId } = stored;
  requireStorable(id, subject);
  return {
    ...{ id, subject, previous_id: previousId ?? null },
    ...{ is_background: toBackgroundColumn(stored), owner: null, sealed_run: null },
    ...{ created_at_ms: stored.createdAtMs, expires_at_ms: stored.expiresAtMs },
    ...toEndedFields(seal, stored),
  };
}

const chatRunColumn = 2;

function toBackgroundColumn({ isBackground, isChatRun }: StoredResponse): number {
  if (isChatRun === true) return chatRunColumn;
  return isBackground ? 1 : 0;
}

/** Returns the row of a response that starts. */
export function toRunningRow(seal: Seal, { node, ...stored }: RunningResponse, run: JsonObject | undefined): ResponseRow {
  const row = toRow(seal, stored);
  return { ...row, owner: node, sealed_run: run === undefined ? null : seal.seal(JSON.stringify(run), toRunContext(row.id)) };
}

export function toEndedFields(seal: Seal, stored: StoredResponse): EndedFields {
  const { id, status, response, input, items } = stored;
  const content: Content = { response, input, ...(items !== undefined && { items }) };
  const sealed_content = seal.seal(JSON.stringify(content), id);
  return { status, sealed_content, bytes: sealed_content.length, item_ids: JSON.stringify(listItemIds(stored)) };
}

function listItemIds(stored: StoredResponse): readonly string[] {
  const ids = listItems(stored).map(({ id }) => id);
  return [...new Set(ids.filter((id): id is string => typeof id === 'string' && isStorableKey(id)))];
}

export function fromRow(seal: Seal, row: ReadRow): StoredResponse {
  const { response, input, items } = openSealedObject(seal, row.sealed_content, row.id);
  const status = row.status as ResponseStatus;
  return {
    ...{ id: row.id, subject: row.subject, status, isBackground: row.is_background > 0 },
    ...(row.is_background === chatRunColumn && { isChatRun: true }),
    ...{ previousId: row.previous_id ?? undefined, createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms },
    response: { ...(isJsonObject(response) && response), status },
    input: filterObjects(input),
    items: items === undefined ? undefined : filterObjects(items),
  };
}

/** Returns the seal context of the data for another node. */
export function toRunContext(id: string): string {
  return `${id}/run`;
}

/** Returns the seal context of events. */
export function toEventsContext(id: string, first: number): string {
  return `${id}/events/${first}`;
}
