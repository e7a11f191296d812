import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type EntryKind, entryKindNames, entryKinds } from '#contract/administration/entry-kinds.ts';
import { toWrittenSchema } from '#contract/configuration/schema-node.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { EntryView, PlannedWrite } from '#services/administration/runtime-entries.ts';
import { toWriteCondition } from '../../http/conditions.ts';
import { type Query, readFlag, readLimit, readText, requireKnown } from '../../http/query.ts';
import { readJson, rejectLargeBody } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { pageLimit } from '../query.ts';
import { requireAdmin, serveAdminRead } from '../require-admin.ts';
import {
  configuredInFile,
  createNumberedKeyError,
  type EntryDeps,
  findFileEntry,
  findItem,
  isNumbered,
  type ListedEntry,
  listEntries,
  readId,
  requireRuntimeEntry,
} from './entry-items.ts';
import { applyChange, planPut, toStoredValue, toWriteList } from './entry-writes.ts';

/** Fields of a response that are ignored in a request body. */
const addedFields: ReadonlySet<string> = new Set(['id', 'source', 'etag', 'createdAt', 'updatedAt', 'prefix', 'lastUsedAt']);

/** Serves `/v1/admin/schema`, `/v1/admin/{kind}`, and `/v1/admin/{kind}/{id}`, except the lists and deletions of keys. */
export function entryRoutes(app: FastifyInstance, deps: EntryDeps): void {
  serveAdminRead(app, deps, '/v1/admin/schema', (query) => {
    requireKnown(query, []);
    return { object: 'list', data: entryKindNames.map(describeKind) };
  });
  for (const kind of entryKindNames) {
    const url = `/v1/admin/${kind}/:entry`;
    if (kind !== 'keys') {
      serveAdminRead(app, deps, `/v1/admin/${kind}`, async (query) => {
        requireKnown(query, ['limit', 'token']);
        return listPage(await listEntries(deps, kind), query);
      });
      serveEarly(app, { method: 'DELETE', url }, (request, reply) => deleteEntry(deps, kind, request, reply));
    }
    serveAdminRead(app, deps, url, async (_query, { request, reply }) => {
      const item = await findItem(deps, { kind, id: readId(request) });
      reply.header('etag', `"${item.etag}"`);
      return item;
    });
    serveEarly(app, { method: 'PUT', url }, (request, reply) => putEntry(deps, kind, request, reply));
    serveEarly(app, { method: 'POST', url: `${url}/migrate` }, (request, reply) => migrateEntry(deps, kind, request, reply));
  }
}

/** Returns a kind with the JSON Schema of its entries. At run time, `${NAME}` is not replaced, so the schema does not allow it. */
function describeKind(kind: EntryKind): JsonObject {
  const { section, schema } = entryKinds[kind];
  return { kind, section, schema: toWrittenSchema(schema, { acceptsReferences: false }) };
}

/** Returns a page of items that are ordered by ID. */
function listPage(items: readonly ListedEntry[], query: Query): JsonObject {
  const limit = readLimit(query, pageLimit);
  const token = readText(query, 'token');
  const after = token === undefined ? undefined : Buffer.from(token, 'base64url').toString();
  const remaining = after === undefined ? items : items.filter(({ id }) => id > after);
  const data = remaining.slice(0, limit);
  const last = remaining.length > limit ? data.at(-1) : undefined;
  const nextToken = last === undefined ? null : Buffer.from(last.id).toString('base64url');
  return { object: 'list', data: data.map(({ toItem }) => toItem()), nextToken };
}

async function putEntry(deps: EntryDeps, kind: EntryKind, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, storedEntries.adminEntry.maxBytes);
  requireKnown(request.query as Query, ['dryRun']);
  const isDryRun = readFlag(request.query as Query, 'dryRun');
  const { subject: author } = await requireAdmin(deps, request, reply, isDryRun ? 'reads' : 'changes');
  const id = readId(request);
  const input = toInput(await readJson(request, storedEntries.adminEntry));
  const fileEntry = findFileEntry(deps, { kind, id });
  if (fileEntry !== undefined && isNumbered(kind, fileEntry)) throw configuredInFile({ kind, id });
  let isNew = false;
  const plan = ({ find }: EntryView): readonly PlannedWrite[] => {
    const before = find({ kind, id });
    isNew = before === undefined;
    toWriteCondition(request.headers, before && { etag: String(before.revision) });
    return [planPut({ kind, id }, input, before)];
  };
  const result = await applyChange(deps, request, plan, { author, action: 'saved', isDryRun });
  if (isDryRun) return toWriteList(result, true);
  const item = await findItem(deps, { kind, id });
  reply.code(isNew && result.writes.length > 0 ? 201 : 200).header('etag', `"${item.etag}"`);
  return item;
}

/** Deletes an entry. Throws `entry_not_found` if there is none. */
export async function deleteEntry(deps: EntryDeps, kind: EntryKind, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  const id = readId(request);
  requireKnown(request.query as Query, ['force']);
  const isForced = readFlag(request.query as Query, 'force');
  const plan = (view: EntryView): readonly PlannedWrite[] => {
    const { revision } = requireRuntimeEntry(deps, view, { kind, id });
    toWriteCondition(request.headers, { etag: String(revision) });
    return [{ kind, id, after: undefined }];
  };
  await applyChange(deps, request, plan, { author, action: 'deleted', isForced });
  reply.code(204);
}

/** Copies an entry of the files to run time. It takes effect when the files no longer have it. */
async function migrateEntry(deps: EntryDeps, kind: EntryKind, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  const id = readId(request);
  const value = findFileEntry(deps, { kind, id });
  if (value !== undefined && isNumbered(kind, value)) throw createNumberedKeyError();
  if (value === undefined) throw new ParleyError('entry_not_found', `The files have no ${entryKinds[kind].name} ${id}.`);
  const after = { value: toStoredValue(kind, value) };
  await applyChange(deps, request, () => [{ kind, id, after }], { author, action: 'saved', allowsFileEntries: true });
  return findItem(deps, { kind, id });
}

/** Returns the entry of a body, which may also be the response of a GET. */
function toInput(body: unknown): JsonObject {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be an object.');
  return Object.fromEntries(Object.entries(body).filter(([name]) => !addedFields.has(name)));
}
