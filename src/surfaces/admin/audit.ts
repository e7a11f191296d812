import type { AuditRecord, Journal } from '#domain/usage/journal.ts';
import { type Query, queryFault, readLimit, readPlace, readText, toToken } from './query.ts';

const limits = { most: 500, otherwise: 50 };

/** One page of the audit log as callers are shown it, the newest first. Throws `invalid_request`, StoreFault. */
export async function readAudit(journal: Journal, query: Query): Promise<object> {
  const { records, nextToken } = await readPage(journal, query, readKind(query));
  return { object: 'list', data: records.map(toShown), nextToken };
}

interface Page {
  readonly records: readonly AuditRecord[];
  /** Null on the last page. */
  readonly nextToken: string | null;
}

/** The records of one page, of one kind or of all. */
export async function readPage(journal: Journal, query: Query, kind: string | undefined): Promise<Page> {
  const limit = readLimit(query, limits);
  const { atMs: beforeMs = Number.POSITIVE_INFINITY, id: beforeId = '' } = readPlace(query) ?? {};
  const found = await journal.readAudit({ beforeMs, beforeId, kind, limit: limit + 1 });
  const records = found.slice(0, limit);
  const last = found.length > limit ? records.at(-1) : undefined;
  return { records, nextToken: last === undefined ? null : toToken(last) };
}

function toShown({ id, atMs, action, subject, object, requestId, details }: AuditRecord): object {
  return { id, at: atMs, action, user: subject ?? null, object: object ?? null, requestId: requestId ?? null, details };
}

function readKind(query: Query): string | undefined {
  const kind = readText(query, 'kind');
  if (kind === undefined || /^[a-z_]{1,50}(\.[a-z_]{1,50})?$/.test(kind)) return kind;
  throw queryFault('kind', 'must be an action such as consent.accepted, or the first part of one');
}
