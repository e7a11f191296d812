import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createRequestError } from '#contract/errors/request-error.ts';
import { ratedAction } from '#contract/features-request.ts';
import { isTagName } from '#contract/tags.ts';
import type { NodeRecord } from '#domain/administration/node-record.ts';
import { unitsPerUsd } from '#domain/limits/limits.ts';
import type { CallContentStore } from '#domain/usage/call-content.ts';
import type { AuditRecord, Journal, UsageAmounts, UsageKey, UsageSum } from '#domain/usage/journal.ts';
import { type Query, readFlag, readLimit, readText, requireKnown } from '../http/query.ts';
import type { SurfaceDeps } from '../http/read-request.ts';
import { type CallsScope, callColumns, exportCalls, type Rows, readCall, readCalls } from './calls.ts';
import { isExport, readFormat, readPages, sendTable, type Table } from './export.ts';
import type { NodeReport } from './node-report.ts';
import { filterNames, readDayRange, readFilter, readPage, toPage, toTimeRange } from './query.ts';
import { identifyUncached, requireUsageReader, serveAdminRead } from './require-admin.ts';

export interface AdminDeps extends SurfaceDeps {
  readonly journal: Journal;
  /** Content of calls. If undefined, calls have no content. */
  readonly callContents?: Pick<CallContentStore, 'find'>;
  readonly readNode: () => NodeReport | Promise<NodeReport>;
  /** The running nodes. If undefined, the list of nodes is empty. */
  readonly nodes?: { list(): Promise<readonly NodeRecord[]> };
}

/**
 * Serves `/v1/admin/usage`, `/calls`, `/audit`, `/state`, and `/health` for the roles `admin` and `auditor`. The owners of a
 * project can also read its usage. Serves `/v1/user/usage` and `/v1/user/calls` for the calls of the signed-in user.
 */
export function adminRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const { journal, readNode, nodes, clock } = deps;
  app.get('/v1/admin/usage', async (request, reply) => {
    const query = request.query as Query;
    const kind = readText(query, 'kind');
    await requireUsageReader(deps, request, reply, kind === undefined ? readText(query, 'project') : undefined);
    if (kind === 'rate') return readRecords(journal, query, { kind: ratedAction, toItem: toRatingItem });
    if (kind !== undefined)
      throw createRequestError('kind', 'must be rate or absent. If it is absent, the response has tokens and costs');
    const keys = ['day', 'deployment', 'user', 'project', 'key', 'session'] as const;
    const scope = { subject: undefined, keys, nowMs: clock.epochMs() };
    return sendUsage(journal, query, { scope, reply });
  });
  serveAdminRead(app, deps, '/v1/admin/calls', (query, { reply }) =>
    sendCalls(journal, query, { scope: { subject: undefined, nowMs: clock.epochMs() }, reply }),
  );
  serveAdminRead(app, deps, '/v1/admin/calls/:id', (query, { request, caller }) => {
    requireKnown(query, []);
    const { id } = request.params as { readonly id: string };
    return readCall(deps, id, { caller, requestId: request.id });
  });
  serveAdminRead(app, deps, '/v1/admin/audit', (query) =>
    readRecords(journal, query, { kind: readActionFilter(query), toItem: toAuditItem }),
  );
  serveAdminRead(app, deps, '/v1/admin/state', () => readNode());
  serveAdminRead(app, deps, '/v1/admin/health', async (query) => {
    requireKnown(query, []);
    const records = (await nodes?.list()) ?? [];
    return { object: 'list', data: records.map(({ node, report }) => ({ id: node, ...report })) };
  });
  app.get('/v1/user/usage', async (request, reply) => {
    const { subject } = await identifyUncached(deps, request, reply, "read its user's usage");
    const scope = { subject, keys: ['day', 'deployment'], nowMs: clock.epochMs() } as const;
    return sendUsage(journal, request.query as Query, { scope, reply });
  });
  app.get('/v1/user/calls', async (request, reply) => {
    const { subject } = await identifyUncached(deps, request, reply, "read its user's usage");
    return sendCalls(journal, request.query as Query, { scope: { subject, nowMs: clock.epochMs() }, reply });
  });
}

type ReadContext<Scope> = { readonly scope: Scope; readonly reply: FastifyReply };

async function sendCalls(journal: Journal, query: Query, { scope, reply }: ReadContext<CallsScope>): Promise<unknown> {
  const format = readFormat(query);
  if (format === 'json') return readCalls(journal, query, scope);
  if (isExport(query)) return sendTable(reply, format, exportCalls(journal, query, scope));
  const { data, nextToken } = await readCalls(journal, query, scope);
  if (nextToken) reply.header('parley-next-token', nextToken);
  return sendTable(reply, format, { columns: callColumns, pages: Readable.from([data]) });
}

async function sendUsage(journal: Journal, query: Query, { scope, reply }: ReadContext<UsageScope>): Promise<unknown> {
  const format = readFormat(query);
  if (format === 'json') return readUsage(journal, query, scope);
  if (isExport(query)) return sendTable(reply, format, exportUsage(journal, query, scope));
  const { data, by } = await readUsage(journal, query, scope);
  return sendTable(reply, format, { columns: [...by, ...amountColumns], pages: Readable.from([data]) });
}

function toRatingItem({ id, atMs, subject, object, requestId, details }: AuditRecord): object {
  const { rate = null, comment = null, responseId = null } = details;
  const origin = { id, at: atMs, deployment: object ?? null, user: subject ?? null };
  return { ...origin, rate, comment, responseId, requestId: requestId ?? null };
}

/** Grouping keys of the query, mapped to field names of records. */
const keysByName = {
  day: 'day',
  deployment: 'deployment',
  user: 'subject',
  project: 'project',
  key: 'keyId',
  session: 'session',
} as const;
type KeyName = keyof typeof keysByName;

const tagPrefix = 'tag:';
const maxTagKeys = 4;

/** A grouping key: its name in the query and its field name in records. */
interface GroupKey {
  readonly name: string;
  readonly key: UsageKey;
}

const limits = { max: 10_000, fallback: 1000 };
/** Larger than a page of calls, because each page adds up all records again. */
const exportPageSize = 5000;
const amountColumns = ['calls', 'failedCalls', 'refusedCalls', 'promptTokens', 'completionTokens', 'cost'];

interface UsageScope {
  /** Subject whose usage is added up. Undefined for all users. */
  readonly subject: string | undefined;
  /** Allowed grouping keys. */
  readonly keys: readonly KeyName[];
  readonly nowMs: number;
}

/** Returns sums of usage as the API shows them, with the total of all rows. Throws `invalid_request` or StoreError. */
async function readUsage(journal: Journal, query: Query, scope: UsageScope): Promise<Rows & { readonly by: readonly string[] }> {
  const { from, to, by, limit, filter } = readUsageQuery(query, scope);
  const sums = await journal.sumUsage<UsageKey>({ ...filter, by: by.map(({ key }) => key), limit: limit + 1 });
  const [total] = await journal.sumUsage({ ...filter, by: [] });
  return {
    object: 'list',
    ...{ from, to, by: by.map(({ name }) => name) },
    data: sums.slice(0, limit).map((sum) => toUsageItem(sum, by)),
    total: total && toAmounts(total),
    isCut: sums.length > limit,
  };
}

/** Returns all sums that the query selects, ordered by its keys, page by page. Throws `invalid_request`. */
function exportUsage(journal: Journal, query: Query, scope: UsageScope): Table {
  const { by, filter } = readUsageQuery(query, scope);
  const page = { ...filter, by: by.map(({ key }) => key), order: 'keys', limit: exportPageSize } as const;
  const read = (after: UsageSum<UsageKey> | undefined) =>
    journal.sumUsage<UsageKey>({ ...page, ...(after !== undefined && { after }) });
  const columns = [...by.map(({ name }) => name), ...amountColumns];
  return { columns, pages: readPages(exportPageSize, read, (sum) => toUsageItem(sum, by)) };
}

function readUsageQuery(query: Query, { subject, keys, nowMs }: UsageScope) {
  const coversAllUsers = subject === undefined;
  if (coversAllUsers) requireKnown(query, ['from', 'to', 'by', 'limit', 'format', 'kind', 'direct', ...filterNames]);
  const { from, to } = readDayRange(query, nowMs);
  const by = readGroupKeys(query, keys);
  const limit = readLimit(query, limits);
  const filter = { ...(coversAllUsers ? readFilter(query) : { subject }), isDirect: readFlag(query, 'direct') };
  return { from, to, by, limit, filter: { ...filter, ...toTimeRange({ from, to }) } };
}

/**
 * Returns the grouping keys of `by`. Tags are allowed only if the key `user` is allowed, because users without an administrative
 * role may not read tags. Throws `invalid_request`.
 */
function readGroupKeys(query: Query, keys: readonly KeyName[]): readonly GroupKey[] {
  const names = new Set((readText(query, 'by') ?? 'day').split(','));
  const groupKeys: GroupKey[] = keys.filter((key) => names.has(key)).map((name) => ({ name, key: keysByName[name] }));
  const allowsTags = keys.includes('user');
  const tags = [...names].filter((name) => allowsTags && name.startsWith(tagPrefix) && isTagName(name.slice(tagPrefix.length)));
  for (const name of tags) groupKeys.push({ name, key: name as UsageKey });
  if (groupKeys.length < names.size || tags.length > maxTagKeys)
    throw createRequestError(
      'by',
      `must be a comma-separated list of ${keys.join(', ')}${allowsTags ? `, and at most ${maxTagKeys} tags such as tag:team` : ''}`,
    );
  return groupKeys;
}

function toUsageItem(sum: UsageSum<UsageKey>, by: readonly GroupKey[]): object {
  return { ...Object.fromEntries(by.map(({ name, key }) => [name, sum[key]])), ...toAmounts(sum) };
}

function toAmounts({ calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost }: UsageAmounts): object {
  return { calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost: cost / unitsPerUsd };
}

interface RecordSelection {
  /** Action of the records, or its first part. Undefined selects all. */
  readonly kind: string | undefined;
  readonly toItem: (record: AuditRecord) => object;
}

/** Returns one page of audit records, newest first. Throws `invalid_request` or StoreError. */
async function readRecords(journal: Journal, query: Query, { kind, toItem }: RecordSelection): Promise<object> {
  const { limit, ...before } = readPage(query);
  const records = await journal.readAudit({ ...before, kind, limit: limit + 1 });
  return toPage(records, limit, { toCursor: (record) => record, toItem });
}

function toAuditItem({ id, atMs, action, subject, object, requestId, details }: AuditRecord): object {
  return { id, at: atMs, action, user: subject ?? null, object: object ?? null, requestId: requestId ?? null, details };
}

function readActionFilter(query: Query): string | undefined {
  const kind = readText(query, 'kind');
  if (kind === undefined || /^[a-z_]{1,50}(\.[a-z_]{1,50})?$/.test(kind)) return kind;
  throw createRequestError('kind', 'must be an action such as consent.accepted, or the first part of one');
}
