import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { type EntryKind, entryKindNames, entryKinds, findKind } from '#contract/administration/entry-kinds.ts';
import { maskEntrySecrets } from '#contract/administration/entry-secrets.ts';
import { isActiveKey } from '#contract/configuration/access.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { ChangePage, CommittedChange, EntryWrite, ListedChange, RuntimeEntry } from '#domain/administration/entry-store.ts';
import { toDocument, toEntryKey, toPlain } from '#services/administration/configuration-layers.ts';
import {
  createInvalidError,
  type EntryError,
  type EntryView,
  type PlannedWrite,
} from '#services/administration/runtime-entries.ts';
import { type Query, readFlag, readLimit, readText, requireKnown } from '../../http/query.ts';
import { readJson, rejectLargeBody } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { pageLimit } from '../query.ts';
import { requireAdmin, serveAdminRead } from '../require-admin.ts';
import { type EntryDeps, isEntryId } from './entry-items.ts';
import { applyChange, getKeyPrefix, preparePut, toWriteItem, toWriteList } from './entry-writes.ts';

const { maxBytes } = storedEntries.adminDocument;
/** Enough for a document with 10,000 keys and 1,000 models. Parsing takes about half a second. */
const documentBounds = { maxNodes: 2_500_000 };

export interface ChangeDeps extends EntryDeps {
  readonly store: {
    listChanges(page: { beforeRevision: number; limit: number }): Promise<ChangePage>;
    findChange(id: string): Promise<CommittedChange | undefined>;
  };
}

/** Serves `/v1/admin/apply`, `/v1/admin/export`, and `/v1/admin/changes`. */
export function changeRoutes(app: FastifyInstance, deps: ChangeDeps): void {
  serveEarly(app, { method: 'POST', url: '/v1/admin/apply' }, (request, reply) => applyDocument(deps, request, reply));
  serveAdminRead(app, deps, '/v1/admin/export', (query) => {
    requireKnown(query, []);
    return exportDocument(deps);
  });
  serveAdminRead(app, deps, '/v1/admin/changes', (query) => listChanges(deps, query));
  serveAdminRead(app, deps, '/v1/admin/changes/:change', async (_query, { request }) =>
    toChangeItem(await findChange(deps, request)),
  );
  serveEarly(app, { method: 'POST', url: '/v1/admin/changes/:change/rollback' }, (request, reply) =>
    rollBack(deps, request, reply),
  );
}

/** Entries of a document by kind. */
type Document = ReadonlyMap<EntryKind, Readonly<Record<string, JsonObject>>>;

/** Stores all entries of a document in one change. With `dryRun`, only returns the differences. */
async function applyDocument(deps: ChangeDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  rejectLargeBody(request.raw, maxBytes);
  const query = request.query as Query;
  requireKnown(query, ['dryRun', 'prune']);
  const [isDryRun, isPruning] = [readFlag(query, 'dryRun'), readFlag(query, 'prune')];
  const { subject: author } = await requireAdmin(deps, request, reply, isDryRun ? 'reads' : 'changes');
  const document = readDocument(await readJson(request, { maxBytes, ...documentBounds }));
  const plan = (view: EntryView) => [...planDocument(document, view), ...(isPruning ? planPruning(document, view) : [])];
  return toWriteList(await applyChange(deps, request, plan, { author, action: 'applied', isDryRun }), isDryRun);
}

/** Throws `invalid_request` for a document that contains something other than entries. */
function readDocument(body: unknown): Document {
  if (!isJsonObject(body))
    throw new ParleyError('invalid_request', 'The body must be an object of kinds, such as {"models": {}}.');
  const document = new Map<EntryKind, Readonly<Record<string, JsonObject>>>();
  for (const [section, entries] of Object.entries(body)) {
    if (section === '$schema') continue;
    const kind = findKind(section);
    if (kind === undefined) {
      const sections = entryKindNames.map((name) => entryKinds[name].section).join(', ');
      throw createRequestError(formatPath([section]), `cannot be changed at run time. A document may contain ${sections}`);
    }
    if (document.has(kind)) throw createRequestError(formatPath([section]), `is the same section as ${entryKinds[kind].section}`);
    if (!isJsonObject(entries)) throw createRequestError(section, 'must be an object of entries by ID');
    for (const [id, entry] of Object.entries(entries)) {
      const path = formatPath([section, id]);
      if (!isJsonObject(entry)) throw createRequestError(path, 'must be an object');
      if (!isEntryId(id)) throw createRequestError(path, 'is not a valid ID: it is empty, ".", "..", or too long');
    }
    document.set(kind, entries as Record<string, JsonObject>);
  }
  return document;
}

/** Throws `invalid_request` with the errors of all secrets that cannot be restored or changed. */
function planDocument(document: Document, { find, isInFiles, configuration }: EntryView): readonly PlannedWrite[] {
  const planned: PlannedWrite[] = [];
  const errors: EntryError[] = [];
  for (const [kind, entries] of document) {
    const section: Readonly<Record<string, JsonObject>> = configuration[entryKinds[kind].section];
    for (const [id, input] of Object.entries(entries)) {
      // An exported entry has masked secrets, so it equals the entry of a file if it equals its visible form.
      if (isInFiles({ kind, id }) && equalsVisible(kind, input, section[id])) continue;
      const prepared = preparePut({ kind, id }, input, find({ kind, id }));
      if ('errors' in prepared) errors.push(...prepared.errors);
      else planned.push(prepared);
    }
  }
  if (errors.length > 0) throw createInvalidError(errors);
  return planned;
}

function equalsVisible(kind: EntryKind, input: JsonObject, entry: JsonObject | undefined): boolean {
  if (entry === undefined) return false;
  const maskedEntry = maskEntrySecrets(kind, entry);
  const toText = (value: JsonObject) => JSON.stringify(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
  return toText(maskEntrySecrets(kind, input)) === toText(toPlain(maskedEntry));
}

/**
 * Yields the deletions of entries that the sections of the document lack, except keys that Parley created and entries of the
 * files.
 */
function* planPruning(document: Document, { entries, isInFiles }: EntryView): Iterable<PlannedWrite> {
  for (const { kind, id, keyPrefix } of entries.values()) {
    const section = document.get(kind);
    const isMissing = section !== undefined && !Object.hasOwn(section, id);
    if (isMissing && keyPrefix === undefined && !isInFiles({ kind, id })) yield { kind, id, after: undefined };
  }
}

async function exportDocument({ entries }: ChangeDeps): Promise<JsonObject> {
  const stored = await entries.list();
  return toDocument([...stored.values()].map(({ kind, id, value }) => ({ kind, id, value: maskEntrySecrets(kind, value) })));
}

async function listChanges({ store }: ChangeDeps, query: Query): Promise<JsonObject> {
  requireKnown(query, ['limit', 'token']);
  const limit = readLimit(query, pageLimit);
  const token = readText(query, 'token');
  if (token !== undefined && !/^\d{1,15}$/.test(token))
    throw createRequestError('token', 'must be the nextToken of the previous page');
  const beforeRevision = token === undefined ? Number.POSITIVE_INFINITY : Number(token);
  const { changes, nextRevision } = await store.listChanges({ beforeRevision, limit });
  return { object: 'list', data: changes.map(toChangeItem), nextToken: nextRevision === null ? null : String(nextRevision) };
}

function toChangeItem(change: CommittedChange | ListedChange): JsonObject {
  const { id, atMs, author, action, undoes, writes } = change;
  const entryCount = 'writeCount' in change ? change.writeCount : writes.length;
  return { id, at: atMs, user: author, action, undoes: undoes ?? null, entryCount, entries: writes.map(toWriteItem) };
}

async function findChange({ store }: ChangeDeps, { params }: FastifyRequest): Promise<CommittedChange> {
  const { change: id } = params as { change: string };
  const change = await store.findChange(id);
  if (change === undefined)
    throw new ParleyError('change_not_found', `There is no change ${id}. GET /v1/admin/changes lists all.`);
  return change;
}

/** Undoes a change as a new change. Throws `change_overwritten` if a later change affected one of its entries. */
async function rollBack(deps: ChangeDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { subject: author } = await requireAdmin(deps, request, reply, 'changes');
  const undone = await findChange(deps, request);
  const plan = ({ find }: EntryView): readonly PlannedWrite[] =>
    undone.writes.map((write) => planUndo(write, find(write), { revision: undone.revision, nowMs: deps.clock.epochMs() }));
  const result = await applyChange(deps, request, plan, { author, action: 'rolled_back', undoes: undone.id });
  return { change: result.change?.id ?? null, data: result.writes.map(toWriteItem) };
}

function planUndo(
  write: EntryWrite,
  current: RuntimeEntry | undefined,
  { revision, nowMs }: { readonly revision: number; readonly nowMs: number },
): PlannedWrite {
  const { kind, id, before, after } = write;
  const isLatest = after === undefined ? current === undefined : current?.revision === revision;
  if (!isLatest)
    throw new ParleyError(
      'change_overwritten',
      `A later change affected ${toEntryKey({ kind, id })}, so this change cannot be undone. Undo the later change first, or save the entry again.`,
    );
  if (kind === 'keys' && before !== undefined && makesValid(before.value, after?.value, nowMs))
    throw new ParleyError(
      'key_revoked',
      `An undo cannot make the key ${id} valid again. To unblock it, save it with "disabled": false. If it has expired, save it with a later expiresAt. If it was deleted or replaced, create a new key.`,
    );
  return { kind, id, after: before && { value: before.value, ...getKeyPrefix(before) } };
}

/** Returns whether restoring a key would accept a secret that is not accepted now. */
function makesValid(restored: JsonObject, current: JsonObject | undefined, nowMs: number): boolean {
  if (!isActiveKey(restored, nowMs)) return false;
  return current === undefined || !isActiveKey(current, nowMs) || restored.sha256 !== current.sha256;
}
