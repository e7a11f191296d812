import { ratedAction } from '#contract/features-request.ts';
import type { AuditRecord, Journal } from '#domain/usage/journal.ts';
import { readPage } from './audit.ts';
import type { Query } from './query.ts';

/** One page of what users thought of replies, the newest first. Throws `invalid_request`, StoreFault. */
export async function readRatings(journal: Journal, query: Query): Promise<object> {
  const { records, nextToken } = await readPage(journal, query, ratedAction);
  return { object: 'list', data: records.map(toShown), nextToken };
}

function toShown({ id, atMs, subject, object, requestId, details }: AuditRecord): object {
  const { rate = null, comment = null, responseId = null } = details;
  return {
    id,
    at: atMs,
    deployment: object ?? null,
    user: subject ?? null,
    rate,
    comment,
    responseId,
    requestId: requestId ?? null,
  };
}
