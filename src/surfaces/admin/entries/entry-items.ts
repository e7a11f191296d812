import type { FastifyRequest } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { type EntryKind, entryKinds } from '#contract/administration/entry-kinds.ts';
import { maskEntrySecrets } from '#contract/administration/entry-secrets.ts';
import { hasSecretName } from '#contract/configuration/access.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { EntryRef, RuntimeEntry } from '#domain/administration/entry-store.ts';
import { hashKey } from '#domain/callers/key-form.ts';
import type { Journal } from '#domain/usage/journal.ts';
import { toEntryKey } from '#services/administration/configuration-layers.ts';
import type { EntryView, RuntimeEntries } from '#services/administration/runtime-entries.ts';
import type { SurfaceDeps } from '../../http/read-request.ts';

export interface EntryDeps extends SurfaceDeps {
  readonly entries: RuntimeEntries;
  readonly journal: Pick<Journal, 'readKeyUses'>;
  readonly newId: () => string;
  /** Returns 32 random bytes in base64url. */
  readonly newSecret: () => string;
}

/** An entry as the API shows it. */
export interface EntryItem extends JsonObject {
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

export async function findItem(deps: EntryDeps, { kind, id }: EntryRef): Promise<EntryItem> {
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
export function isNumbered(kind: EntryKind, entry: JsonObject): boolean {
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

export function findFileEntry({ entries }: EntryDeps, entry: EntryRef): JsonObject | undefined {
  const name = findFileName({ entries }, entry);
  return name === undefined ? undefined : getFileSection(entries, entry.kind)[name];
}

/** The ETag does not depend on secrets, because short secrets could be found from it. */
function toFileItem(kind: EntryKind, id: string, entry: JsonObject): EntryItem {
  const visible = maskEntrySecrets(kind, entry);
  return { id, source: 'file', etag: hashKey(JSON.stringify(visible)).slice(0, 16), ...visible };
}

function toItem({ kind, id, revision, createdAtMs, updatedAtMs, value, keyPrefix }: RuntimeEntry): EntryItem {
  const metadata = { id, source: 'runtime' as const, etag: String(revision), createdAt: createdAtMs, updatedAt: updatedAtMs };
  return { ...metadata, ...(keyPrefix !== undefined && { prefix: keyPrefix }), ...maskEntrySecrets(kind, value) };
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

/** Returns the error for an operation that needs the name of a key whose name is its secret. */
export function createNumberedKeyError(): ParleyError {
  return createRequestError('id', 'is the number of a key whose name is its secret. Write a name and sha256 into the file first');
}

export function configuredInFile({ kind, id }: EntryRef): ParleyError {
  return new ParleyError(
    'configured_in_file',
    `The ${entryKinds[kind].name} ${id} is in a configuration file, which takes precedence. Change the file.`,
  );
}
