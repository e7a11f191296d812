import type { FastifyRequest } from 'fastify';
import type { JsonObject } from '#base/json/json.ts';
import { type EntryKind, entryKinds } from '#contract/administration/entry-kinds.ts';
import { restoreEntrySecrets } from '#contract/administration/entry-secrets.ts';
import { formatPath, type Issue } from '#contract/configuration/issue.ts';
import { isHeaderValue } from '#contract/configuration/values.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { EntryRef, EntryWrite, RuntimeEntry } from '#domain/administration/entry-store.ts';
import { hashKey } from '#domain/callers/key-form.ts';
import { toPlain } from '#services/administration/configuration-layers.ts';
import { listDifferences } from '#services/administration/entry-differences.ts';
import {
  type ChangeOptions,
  type ChangeResult,
  createInvalidError,
  type EntryError,
  type EntryView,
  type PlannedWrite,
} from '#services/administration/runtime-entries.ts';
import type { EntryDeps } from './entry-items.ts';

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
export function planPut(entry: EntryRef, input: JsonObject, before: RuntimeEntry | undefined): PlannedWrite {
  const prepared = preparePut(entry, input, before);
  if ('errors' in prepared) throw createInvalidError(prepared.errors);
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
  return { kind, id, after: { value: toStoredValue(kind, entry), ...getKeyPrefix(before) } };
}

/** Returns the prefix of a key that Parley created, which later writes keep. */
export function getKeyPrefix(entry: RuntimeEntry | undefined): Pick<RuntimeEntry, 'keyPrefix'> {
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
    yield { path: [], message: 'is not a valid ID. Only a key of the configuration files can have an ID of digits' };
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

/** Returns the value of an entry for the store. It has the digest of a key instead of the key. */
export function toStoredValue(kind: EntryKind, value: JsonObject): JsonObject {
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
