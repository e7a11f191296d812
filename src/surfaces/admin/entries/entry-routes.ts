import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { type EntryKind, entryKindNames, entryKinds } from '#contract/administration/entry-kinds.ts';
import { hideEntrySecrets, restoreEntrySecrets } from '#contract/administration/entry-secrets.ts';
import { hasSecretName } from '#contract/configuration/access.ts';
import { formatPath, type Issue } from '#contract/configuration/issue.ts';
import { isHeaderValue } from '#contract/configuration/values.ts';
import { toWrittenSchema } from '#contract/configuration/written-schema.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { storedEntries } from '#contract/schemas/stored-entries.ts';
import type { EntryRef, EntryWrite, RuntimeEntry } from '#domain/administration/entry-store.ts';
import { hashKey } from '#domain/callers/key-form.ts';
import type { Journal } from '#domain/usage/journal.ts';
import { toEntryKey, toPlain } from '#services/administration/configuration-layers.ts';
import { listDifferences } from '#services/administration/entry-differences.ts';
import {
  type ChangeOptions,
  type ChangeResult,
  type EntryError,
  type EntryView,
  type PlannedWrite,
  type RuntimeEntries,
  toInvalidError,
} from '#services/administration/runtime-entries.ts';
import { toWriteCondition } from '../../http/conditions.ts';
import { type Query, readFlag, readLimit, readText, requireKnown } from '../../http/query.ts';
import { readJson, rejectLargeBody, type SurfaceDeps } from '../../http/read-request.ts';
import { serveEarly } from '../../http/serve-raw.ts';
import { pageLimit } from '../query.ts';
import { requireAdmin, serveAdminRead } from '../require-admin.ts';

export interface EntryDeps extends SurfaceDeps {
  readonly entries: RuntimeEntries;
  readonly journal: Pick<Journal, 'readKeyUses'>;
  readonly newId: () => string;
  /** Returns 32 random bytes in base64url. */
  readonly newSecret: () => string;
}

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

/** An entry as the API shows it. */
interface EntryItem extends JsonObject {
  readonly id: string;
  readonly source: 'file' | 'runtime';
  readonly etag: string;
}

/** An entry of a list, which is converted only if it is on the page. */
export interface ListedEntry {
  readonly id: string;
  readonly toItem: () => EntryItem;
}

/** Returns the entries of a kind by ID: those of the files, and the other run-time entries. */
export async function listEntries({ entries }: EntryDeps, kind: EntryKind): Promise<readonly ListedEntry[]> {
  const stored = await entries.list();
  const listed = new Map<string, ListedEntry>();
  for (const entry of stored.values())
    if (entry.kind === kind) listed.set(entry.id, { id: entry.id, toItem: () => toItem(entry) });
  for (const [index, [name, entry]] of Object.entries(getFileSection(entries, kind)).entries()) {
    const id = isNumbered(kind, entry) ? String(index + 1) : name;
    listed.set(id, { id, toItem: () => toFileItem(kind, id, entry) });
  }
  return [...listed.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
}

/** Returns whether the files have an entry, or an administrator created it. */
export async function hasEntry({ entries }: EntryDeps, entry: EntryRef): Promise<boolean> {
  return findFileName({ entries }, entry) !== undefined || (await entries.list()).has(toEntryKey(entry));
}

async function findItem(deps: EntryDeps, { kind, id }: EntryRef): Promise<EntryItem> {
  const fileEntry = findFileEntry(deps, { kind, id });
  const storedEntry = (await deps.entries.list()).get(toEntryKey({ kind, id }));
  const item = fileEntry === undefined ? storedEntry && toItem(storedEntry) : toFileItem(kind, id, fileEntry);
  if (item === undefined) throw notFound({ kind, id });
  if (kind !== 'keys') return item;
  const [key = item] = await addLastUses(deps, [item]);
  return key;
}

/** Adds `lastUsedAt` to keys, except to keys whose name is the secret. Calls with these are recorded without the key. */
export async function addLastUses({ journal }: EntryDeps, keys: readonly EntryItem[]): Promise<readonly EntryItem[]> {
  const uses = await journal.readKeyUses(keys.map(({ id }) => id));
  return keys.map((key) => (hasSecretName(key as JsonObject) ? key : { ...key, lastUsedAt: uses.get(key.id) ?? null }));
}

function getFileSection({ files }: RuntimeEntries, kind: EntryKind): Readonly<Record<string, JsonObject>> {
  return files[entryKinds[kind].section];
}

/** Returns whether the name of an entry of the files is a secret. The API shows its position instead. */
function isNumbered(kind: EntryKind, entry: JsonObject): boolean {
  return kind === 'keys' && hasSecretName(entry);
}

/** Returns the name of the entry of the files that the API shows under an ID. */
export function findFileName({ entries }: Pick<EntryDeps, 'entries'>, { kind, id }: EntryRef): string | undefined {
  const section = getFileSection(entries, kind);
  const fileEntry = Object.hasOwn(section, id) ? section[id] : undefined;
  if (fileEntry !== undefined && !isNumbered(kind, fileEntry)) return id;
  if (kind !== 'keys' || !/^[1-9]\d{0,8}$/.test(id)) return undefined;
  const [name, entry] = Object.entries(section)[Number(id) - 1] ?? [];
  return entry !== undefined && isNumbered(kind, entry) ? name : undefined;
}

function findFileEntry({ entries }: EntryDeps, entry: EntryRef): JsonObject | undefined {
  const name = findFileName({ entries }, entry);
  return name === undefined ? undefined : getFileSection(entries, entry.kind)[name];
}

/** The ETag does not depend on secrets, because short secrets could be found from it. */
function toFileItem(kind: EntryKind, id: string, entry: JsonObject): EntryItem {
  const visible = hideEntrySecrets(kind, entry);
  return { id, source: 'file', etag: hashKey(JSON.stringify(visible)).slice(0, 16), ...visible };
}

function toItem({ kind, id, revision, createdAtMs, updatedAtMs, value, keyPrefix }: RuntimeEntry): EntryItem {
  const metadata = { id, source: 'runtime' as const, etag: String(revision), createdAt: createdAtMs, updatedAt: updatedAtMs };
  return { ...metadata, ...(keyPrefix !== undefined && { prefix: keyPrefix }), ...hideEntrySecrets(kind, value) };
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
  if (value !== undefined && isNumbered(kind, value))
    throw createRequestError(
      'id',
      'is the number of a key whose name is its secret. Write a name and sha256 into the file first',
    );
  if (value === undefined) throw new ParleyError('entry_not_found', `The files have no ${entryKinds[kind].name} ${id}.`);
  const after = { value: toStoredValue(kind, value) };
  await applyChange(deps, request, () => [{ kind, id, after }], { author, action: 'saved', allowsFileEntries: true });
  return findItem(deps, { kind, id });
}

/** Stores a change, and adds its writes to the audit log. */
export async function applyChange(
  { entries, recordAudit }: Pick<EntryDeps, 'entries' | 'recordAudit'>,
  request: FastifyRequest,
  plan: (view: EntryView) => readonly PlannedWrite[],
  options: ChangeOptions,
): Promise<ChangeResult> {
  const result = await entries.change(plan, options);
  for (const write of result.change?.writes ?? []) {
    const { kind, id } = write;
    const details = { change: result.change?.id ?? '', differences: JSON.stringify(listDifferences(write)) };
    recordAudit({
      action: `entry.${getAction(write)}`,
      subject: options.author,
      object: `${kind}/${id}`,
      requestId: request.id,
      details,
    });
  }
  return result;
}

/** Returns the write of a PUT. Throws `invalid_request` with all errors of `preparePut`. */
function planPut(entry: EntryRef, input: JsonObject, before: RuntimeEntry | undefined): PlannedWrite {
  const prepared = preparePut(entry, input, before);
  if ('errors' in prepared) throw toInvalidError(prepared.errors);
  return prepared;
}

/** Returns the write of a PUT, or the errors of secrets that cannot be restored or changed. */
export function preparePut(
  { kind, id }: EntryRef,
  input: JsonObject,
  before: RuntimeEntry | undefined,
): PlannedWrite | { readonly errors: readonly EntryError[] } {
  const { entry, errors } = restoreEntrySecrets(kind, input, before?.value);
  const issues = kind === 'keys' && errors.length === 0 ? [...findKeyIssues(id, entry, before)] : errors;
  if (issues.length > 0)
    return {
      errors: issues.map(({ path, message }) => ({ path: formatPath([entryKinds[kind].section, id, ...path]), message })),
    };
  return { kind, id, after: { value: toStoredValue(kind, entry), ...getPrefix(before) } };
}

/** Returns the prefix of a key that Parley created, which later writes keep. */
export function getPrefix(entry: RuntimeEntry | undefined): Pick<RuntimeEntry, 'keyPrefix'> {
  return entry?.keyPrefix === undefined ? {} : { keyPrefix: entry.keyPrefix };
}

/** A key is stored as a digest. A PUT can set it only once, because a rotation replaces it. */
function* findKeyIssues(id: string, { key, sha256 }: JsonObject, before: RuntimeEntry | undefined): Iterable<Issue> {
  const path = ['key'];
  if (key !== undefined && typeof key !== 'string') return yield { path, message: 'must be a string' };
  if (key !== undefined && sha256 !== undefined) return yield { path, message: 'cannot be combined with sha256' };
  if (key !== undefined && (key === '' || !isHeaderValue(key) || key !== key.trim()))
    yield { path, message: 'must not be empty, contain control characters, or start or end with white space' };
  if (before === undefined && /^\d+$/.test(id))
    yield { path: [], message: 'is not a valid ID: digits only identify keys of the files' };
  const digest = key === undefined ? sha256 : hashKey(key);
  if (digest === undefined) yield { path, message: 'is missing. POST /v1/admin/keys creates a key' };
  if (typeof digest !== 'string') return;
  // The ID is the secret, so the error must not contain it.
  if (digest.toLowerCase() === hashKey(id))
    throw createRequestError('keys', 'contains a key whose ID is its secret. Choose another ID');
  if (before !== undefined && digest !== before.value.sha256) {
    const message = `cannot be changed. POST /v1/admin/keys/${encodeURIComponent(id)}/rotate replaces the key`;
    yield { path, message };
  }
}

/** Returns the value of an entry in the store, which has the digest of a key instead of the key. */
function toStoredValue(kind: EntryKind, value: JsonObject): JsonObject {
  const copy = toPlain(value);
  const { key, ...otherFields } = copy;
  return kind === 'keys' && typeof key === 'string' ? { ...otherFields, sha256: hashKey(key) } : copy;
}

/** Returns the writes of a change. A dry run has no `change`. */
export function toWriteList({ change, writes }: ChangeResult, dryRun: boolean): JsonObject {
  return { object: 'list', dryRun, change: change?.id ?? null, data: writes.map(toWriteItem) };
}

export function toWriteItem(write: EntryWrite): JsonObject {
  const { kind, id } = write;
  return { kind, id, action: getAction(write), differences: listDifferences(write) };
}

function getAction({ before, after }: EntryWrite): 'created' | 'updated' | 'deleted' {
  if (after === undefined) return 'deleted';
  return before === undefined ? 'created' : 'updated';
}

/** Returns the entry of a body, which may also be the response of a GET. */
function toInput(body: unknown): JsonObject {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be an object.');
  return Object.fromEntries(Object.entries(body).filter(([name]) => !addedFields.has(name)));
}

/** Returns the ID of an entry in the path. Throws `invalid_request`. */
export function readId({ params }: FastifyRequest): string {
  const { entry } = params as { entry: string };
  if (isEntryId(entry)) return entry;
  throw createRequestError('id', 'must be the ID of an entry, percent-encoded');
}

/** Returns whether an ID can be part of a path. Clients resolve `.` and `..`. */
export function isEntryId(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && isStorableKey(id);
}

/** Returns a run-time entry. Throws `configured_in_file` for an entry that only the files have, or `entry_not_found`. */
export function requireRuntimeEntry(deps: Pick<EntryDeps, 'entries'>, { find }: EntryView, entry: EntryRef): RuntimeEntry {
  const runtimeEntry = find(entry);
  if (runtimeEntry !== undefined) return runtimeEntry;
  throw findFileName(deps, entry) === undefined ? notFound(entry) : configuredInFile(entry);
}

/** Returns the error for an entry that does not exist. */
export function notFound({ kind, id }: EntryRef): ParleyError {
  return new ParleyError('entry_not_found', `There is no ${entryKinds[kind].name} ${id}. GET /v1/admin/${kind} lists all.`);
}

function configuredInFile({ kind, id }: EntryRef): ParleyError {
  return new ParleyError(
    'configured_in_file',
    `The ${entryKinds[kind].name} ${id} is in a configuration file, which takes precedence. Change the file.`,
  );
}
