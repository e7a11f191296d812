import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { adminRole } from '#contract/roles.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CallOutcome } from '#domain/calls/telemetry.ts';
import { unitsPerUsd } from '#domain/limits/limits.ts';
import type { CallContentStore } from '#domain/usage/call-content.ts';
import type { Journal, RecordAudit, UsageRecord } from '#domain/usage/journal.ts';
import { type Query, readLimit, readText, requireKnown } from '../http/query.ts';
import { readPages, type Table } from './export.ts';
import { filterNames, pageLimit, readCursor, readDayRange, readFilter, toPage, toTimeRange } from './query.ts';

const exportPageSize = 1000;
/** Columns of calls in CSV. */
export const callColumns = [
  ...['id', 'at', 'requestId', 'user', 'project', 'deployment', 'path', 'operation', 'outcome', 'status'],
  ...['promptTokens', 'completionTokens', 'cost', 'durationMs', 'key'],
  ...['cacheReadTokens', 'cacheWriteTokens', 'cacheWrite1hTokens', 'serviceTier', 'session', 'tags'],
];
/** Outcomes of calls. */
export const outcomes: readonly CallOutcome[] = ['ok', 'refused', 'failed', 'left'];
const allTime = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/** The caller's access to calls, and the current time. */
export interface CallsScope {
  /** Subject whose calls are listed. If undefined, the calls of all users are listed, filtered by the query. */
  readonly subject: string | undefined;
  readonly nowMs: number;
}

/** Returns one page of calls, newest first, without content. Throws `invalid_request` or StoreError. */
export async function readCalls(journal: Journal, query: Query, scope: CallsScope): Promise<Rows> {
  const { from, to, ...filter } = readCallsQuery(query, scope);
  const limit = readLimit(query, pageLimit);
  const records = await journal.listCalls({ ...filter, before: readCursor(query), limit: limit + 1 });
  const { data, nextToken } = toPage(records, limit, { toCursor: (record) => record, toItem });
  return { object: 'list', from, to, data, nextToken };
}

/** Returns all calls that the query selects, page by page. Throws `invalid_request`. */
export function exportCalls(journal: Journal, query: Query, scope: CallsScope): Table {
  const filter = readCallsQuery(query, scope);
  const read = (before: UsageRecord | undefined) => journal.listCalls({ ...filter, before, limit: exportPageSize });
  return { columns: callColumns, pages: readPages(exportPageSize, read, toItem) };
}

interface CallDeps {
  readonly journal: Pick<Journal, 'listCalls'>;
  readonly callContents?: Pick<CallContentStore, 'find'>;
  readonly recordAudit: RecordAudit;
}

/**
 * Returns a call. Administrators also receive its content, and the audit log records that. Throws `call_not_found` or
 * StoreError.
 */
export async function readCall(
  { journal, callContents, recordAudit }: CallDeps,
  id: string,
  { caller, requestId }: { readonly caller: Caller; readonly requestId: string },
): Promise<object> {
  const [record] = await journal.listCalls({ ...allTime, id, outcome: undefined, before: undefined, limit: 1 });
  if (record === undefined) throw new ParleyError('call_not_found', `There is no record of a call ${JSON.stringify(id)}.`);
  const call = { object: 'call', ...toItem(record) };
  if (!caller.roles.includes(adminRole)) return call;
  const content = await callContents?.find(record);
  if (content === undefined) return { ...call, content: null };
  recordAudit({ action: 'call.content_read', subject: caller.subject, object: id, requestId, details: { user: record.subject } });
  return { ...call, content };
}

function readCallsQuery(query: Query, { subject, nowMs }: CallsScope) {
  const coversAllUsers = subject === undefined;
  if (coversAllUsers) requireKnown(query, ['from', 'to', 'outcome', 'status', 'token', 'limit', 'format', ...filterNames]);
  const { from, to } = readDayRange(query, nowMs);
  const filter = coversAllUsers ? readFilter(query) : { subject, deployment: readText(query, 'deployment') };
  return {
    from,
    to,
    ...toTimeRange({ from, to }),
    ...filter,
    outcome: readOutcome(query),
    status: coversAllUsers ? readStatus(query) : undefined,
  };
}

function readStatus(query: Query): number | undefined {
  const text = readText(query, 'status');
  if (text !== undefined && !/^[1-5]\d\d$/.test(text)) throw createRequestError('status', 'must be an HTTP status such as 429');
  return text === undefined ? undefined : Number(text);
}

function readOutcome(query: Query): CallOutcome | undefined {
  const text = readText(query, 'outcome');
  const outcome = outcomes.find((candidate) => candidate === text);
  if (text !== undefined && outcome === undefined) throw createRequestError('outcome', `must be one of ${outcomes.join(', ')}`);
  return outcome;
}

function toItem({ atMs, subject, cost, ...call }: UsageRecord): object {
  const { id, requestId, project, deployment, path, operation, outcome, status } = call;
  const { promptTokens, completionTokens, durationMs, keyId } = call;
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, serviceTier, session, tags } = call;
  return {
    ...{ id, at: atMs, requestId, user: subject, project, deployment, path, operation, outcome, status },
    ...{ promptTokens, completionTokens, cost: cost / unitsPerUsd, durationMs, key: keyId },
    ...{ cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, serviceTier, session, tags },
  };
}

/** A response with one page of rows. */
export interface Rows {
  readonly object: 'list';
  readonly data: readonly object[];
  readonly nextToken?: string | null;
  readonly [field: string]: unknown;
}
