import { type Kysely, sql } from 'kysely';
import type { CallOutcome, Operation } from '#domain/telemetry.ts';
import type { CallsQuery, UsageRecord } from '#domain/usage/journal.ts';
import { fromRecordList } from './record-json.ts';
import type { Schema, UsageRow } from './schema.ts';

/** Calls as the port says; bounds are whole numbers. Each of what may be asked for has an index in the order of time. */
export async function listCalls(
  kysely: Kysely<Schema>,
  { fromMs, toMs, subject, deployment, project, keyId, requestId, outcome, before, limit }: CallsQuery,
): Promise<readonly UsageRecord[]> {
  const within = kysely.selectFrom('usage_records').selectAll().where('at_ms', '>=', fromMs).where('at_ms', '<', toMs);
  const rows = await within
    .$if(before !== undefined, (query) => query.where(sql<boolean>`(at_ms, id) < (${before?.atMs}, ${before?.id})`))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
    .$if(deployment !== undefined, (query) => query.where('deployment', '=', deployment ?? ''))
    .$if(project !== undefined, (query) => query.where('project', '=', project ?? ''))
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
    .$if(requestId !== undefined, (query) => query.where('request_id', '=', requestId ?? ''))
    .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? ''))
    // As the index of all that were not answered has it.
    .$if(outcome !== undefined && outcome !== 'ok', (query) => query.where(sql<boolean>`outcome <> 'ok'`))
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

function toRecord(row: UsageRow): UsageRecord {
  return {
    ...{ id: row.id, requestId: row.request_id, atMs: row.at_ms, subject: row.subject, project: row.project },
    ...{ deployment: row.deployment, path: fromRecordList(row.path), operation: row.operation as Operation },
    ...{ outcome: row.outcome as CallOutcome, status: row.status, durationMs: row.duration_ms },
    ...{ promptTokens: row.prompt_tokens, completionTokens: row.completion_tokens, cost: row.cost },
    ...(row.cache_read_tokens !== null && { cacheReadTokens: row.cache_read_tokens }),
    ...(row.cache_write_tokens !== null && { cacheWriteTokens: row.cache_write_tokens }),
    ...(row.cache_write_1h_tokens !== null && { cacheWrite1hTokens: row.cache_write_1h_tokens }),
    ...(row.service_tier !== null && { serviceTier: row.service_tier }),
    ...(row.session !== null && { session: row.session }),
    ...(row.key_id !== null && { keyId: row.key_id }),
  };
}
