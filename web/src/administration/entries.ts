import { filterObjects, isJsonObject, type JsonObject, toNumber, toObject, toText } from '#base/json/json.ts';
import { toSentence } from '#base/text/sentence.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { isWithin } from '../builder/editors/form.ts';
import type { Service } from '../service/service.ts';
import { type ErrorDetails, ServiceError } from '../service/service-error.ts';

/** A kind of entries that can be created at run time. */
export interface Kind {
  /** Name in paths, such as `identity-providers`. */
  readonly kind: string;
  /** Name in the configuration, such as `identityProviders`. */
  readonly section: string;
  /** JSON Schema of an entry. */
  readonly schema: JsonObject;
}

/** An entry of the configuration. */
export interface Entry {
  readonly id: string;
  /** `file`: a configuration file defines the entry. `user`: a user created the key. */
  readonly source: 'file' | 'runtime' | 'user';
  readonly etag: string;
  /** Fields of the entry without its metadata. Secrets are `***`. */
  readonly value: JsonObject;
  /** First characters of a key. '' if unknown. */
  readonly prefix: string;
  /** Null if a key was never used. Undefined if its uses are not recorded, and for other entries. */
  readonly lastUsedAtMs: number | null | undefined;
  /** Owner of a user's key. */
  readonly user: string;
  readonly expiresAtMs: number | undefined;
}

/** A changed value. `before` is undefined if the value was added, and `after` if it was removed. */
interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A created, updated, or deleted entry. */
export interface Write {
  readonly kind: string;
  readonly id: string;
  readonly action: string;
  readonly differences: readonly Difference[];
}

/** Writes that one request made together. */
export interface Change {
  readonly id: string;
  readonly atMs: number;
  readonly user: string;
  readonly action: string;
  /** All writes of a single change, or the first ones of a change in a list. */
  readonly writes: readonly Write[];
  readonly writeCount: number;
}

/** An alert of the configuration. A time is undefined if nothing was sent, failed, or is planned. */
export interface ConfiguredAlert {
  /** Path in the configuration. */
  readonly path: string;
  /** Owner of the limit, such as `project:search`. */
  readonly of: string;
  /** Kind and period of the limit, such as `tokens.day:gpt`. */
  readonly window: string;
  /** Thresholds as fractions of the limit, from 0 to 1. */
  readonly at: readonly number[];
  readonly server: string;
  /** Number of webhooks that wait for an attempt. */
  readonly pending: number;
  readonly nextAttemptAtMs: number | undefined;
  readonly lastSentAtMs: number | undefined;
  readonly lastFailure: { readonly atMs: number | undefined; readonly error: string } | undefined;
}

export interface BlockedUser {
  readonly user: string;
  readonly reason: string;
  readonly blockedAtMs: number;
}

/** A key that is shown once. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

const pageSize = 500;
/** Number of items of a list after which no further page is loaded. */
const maxEntries = 10_000;
const metadataFields = ['id', 'source', 'etag', 'createdAt', 'updatedAt', 'prefix', 'lastUsedAt'];

/** Loads the kinds with their schemas. */
export async function readKinds(service: Service, signal?: AbortSignal): Promise<readonly Kind[]> {
  const body = toObject(await service.json('v1/admin/schema', signal && { signal }));
  return filterObjects(body.data).map(({ kind, section, schema }) => ({
    kind: String(kind),
    section: String(section),
    schema: toObject(schema),
  }));
}

interface LoadOptions<Item> {
  readonly signal?: AbortSignal | undefined;
  readonly onPage?: (items: readonly Item[]) => void;
}

/**
 * Loads the entries of a kind, up to `maxEntries`. Calls `onPage` with the entries so far after each page, so that the first ones
 * are visible early.
 */
export function listEntries(service: Service, kind: string, options: LoadOptions<Entry> = {}): Promise<readonly Entry[]> {
  return listAll(service, kind, toEntry, options);
}

export function listAlerts(service: Service, signal?: AbortSignal): Promise<readonly ConfiguredAlert[]> {
  return listAll(service, 'configured-alerts', toAlert, { signal });
}

/** Loads the items of a list of the administration, up to `maxEntries`. */
export async function listAll<Item>(
  service: Service,
  path: string,
  toItem: (item: JsonObject) => Item,
  { signal, onPage }: LoadOptions<Item>,
): Promise<readonly Item[]> {
  let items: readonly Item[] = [];
  for (let token: string | undefined = ''; token !== undefined && items.length < maxEntries; ) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(token !== '' && { token }) });
    const body = toObject(await service.json(`v1/admin/${path}?${query}`, signal && { signal }));
    items = [...items, ...filterObjects(body.data).map(toItem)];
    onPage?.(items);
    token = toText(body.nextToken) || undefined;
  }
  return items;
}

export async function readEntry(service: Service, kind: string, id: string, signal?: AbortSignal): Promise<Entry> {
  return toEntry(toObject(await service.json(toPath(kind, id), signal && { signal })));
}

/** Stores an entry if the stored one still has this ETag. Without an ETag, the entry must not exist. */
export async function saveEntry(
  service: Service,
  kind: string,
  { id, value, etag }: { readonly id: string; readonly value: JsonObject; readonly etag: string | undefined },
): Promise<Entry> {
  const headers: Record<string, string> = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${etag}"` };
  return toEntry(toObject(await service.json(toPath(kind, id), { method: 'PUT', body: value, headers })));
}

/** Deletes an entry. With `isForced`, also deletes an entry that other entries refer to. */
export async function deleteEntry(service: Service, kind: string, id: string, isForced: boolean): Promise<void> {
  await service.send(`${toPath(kind, id)}${isForced ? '?force=true' : ''}`, { method: 'DELETE' });
}

/** Copies an entry of a configuration file to the entries that can be changed at run time. */
export async function migrateEntry(service: Service, kind: string, id: string): Promise<void> {
  await service.send(`${toPath(kind, id)}/migrate`, { method: 'POST', body: {} });
}

export async function createKey(service: Service, value: JsonObject): Promise<CreatedKey> {
  return toCreatedKey(await service.json('v1/admin/keys', { method: 'POST', body: value }));
}

/** Replaces the secret of a key. The previous one works for `overlapSeconds` more. */
export async function rotateKey(service: Service, id: string, overlapSeconds: number): Promise<CreatedKey> {
  return toCreatedKey(await service.json(`${toPath('keys', id)}/rotate`, { method: 'POST', body: { overlapSeconds } }));
}

export function listBlockedUsers(service: Service, signal?: AbortSignal): Promise<readonly BlockedUser[]> {
  const toBlockedUser = ({ user, reason, blockedAt }: JsonObject): BlockedUser => ({
    user: String(user),
    reason: toText(reason),
    blockedAtMs: Number(blockedAt),
  });
  return listAll(service, 'blocked-users', toBlockedUser, { signal });
}

export async function blockUser(service: Service, user: string, reason: string): Promise<void> {
  const body = reason === '' ? {} : { reason };
  await service.send(`v1/admin/blocked-users/${encodeURIComponent(user)}`, { method: 'PUT', body });
}

export async function unblockUser(service: Service, user: string): Promise<void> {
  await service.send(`v1/admin/blocked-users/${encodeURIComponent(user)}`, { method: 'DELETE' });
}

interface ChangePage {
  readonly changes: readonly Change[];
  /** Token of the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

/** Loads one page of changes, the latest first. */
export async function listChanges(service: Service, token?: string, signal?: AbortSignal): Promise<ChangePage> {
  const query = new URLSearchParams({ limit: '25', ...(token !== undefined && { token }) });
  const body = toObject(await service.json(`v1/admin/changes?${query}`, signal && { signal }));
  return { changes: filterObjects(body.data).map(toChange), next: toText(body.nextToken) || undefined };
}

/** Loads a change with all writes. */
export async function readChange(service: Service, id: string): Promise<Change> {
  return toChange(toObject(await service.json(toPath('changes', id))));
}

export async function rollBack(service: Service, changeId: string): Promise<void> {
  await service.send(`${toPath('changes', changeId)}/rollback`, { method: 'POST', body: {} });
}

/** Returns the user who last changed an entry, or '' if the latest page of changes does not contain it. */
export async function findLastAuthor(service: Service, kind: string, id: string): Promise<string> {
  const { changes } = await listChanges(service);
  for (const listed of changes) {
    const { writes, user } = listed.writes.length < listed.writeCount ? await readChange(service, listed.id) : listed;
    if (writes.some((write) => write.kind === kind && write.id === id)) return user;
  }
  return '';
}

/** Error messages of an entry: by the path of the field, and those without a field. */
export interface EntryErrors {
  readonly byField: ReadonlyMap<string, string>;
  readonly general: readonly string[];
}

/** Assigns the errors of a rejected entry to its fields. */
export function toEntryErrors({ errors = [], param, message }: ErrorDetails, section: string, id: string): EntryErrors {
  const prefix = formatPath([section, id]);
  const byField = new Map<string, string>();
  const general: string[] = [];
  const all: typeof errors =
    errors.length > 0 || param === undefined ? errors : [{ path: `${prefix}.${param}`, message: removePath(message, param) }];
  for (const { path, message: description, hint = '' } of all) {
    const text = [description, hint].filter(Boolean).map(toSentence).join(' ');
    const field = isWithin(path, prefix) ? path.slice(prefix.length).replace(/^\./, '') : '';
    if (field === '') general.push(path === prefix ? text : `${path}: ${text}`);
    else byField.set(field, [byField.get(field), text].filter(Boolean).join(' '));
  }
  return { byField, general };
}

function removePath(message: string, param: string): string {
  return message.startsWith(`${param} `) ? message.slice(param.length + 1) : message;
}

function toPath(kind: string, id: string): string {
  return `v1/admin/${kind}/${encodeURIComponent(id)}`;
}

function toEntry(item: JsonObject): Entry {
  const { id, source, etag, prefix, lastUsedAt, user, expiresAt } = item;
  return {
    id: String(id),
    source: source === 'file' || source === 'user' ? source : 'runtime',
    etag: toText(etag),
    value: Object.fromEntries(Object.entries(item).filter(([name]) => !metadataFields.includes(name))),
    prefix: toText(prefix),
    lastUsedAtMs: lastUsedAt === null ? null : toNumber(lastUsedAt),
    user: toText(user),
    expiresAtMs: toNumber(expiresAt) ?? toMs(expiresAt),
  };
}

function toAlert({ path, of, window, at, server, pending, nextAttemptAt, lastSentAt, lastFailure }: JsonObject): ConfiguredAlert {
  return {
    ...{ path: String(path), of: String(of), window: String(window), server: String(server), pending: Number(pending) },
    at: Array.isArray(at) ? at.map(Number) : [],
    nextAttemptAtMs: toNumber(nextAttemptAt),
    lastSentAtMs: toNumber(lastSentAt),
    lastFailure: isJsonObject(lastFailure) ? { atMs: toNumber(lastFailure.at), error: String(lastFailure.error) } : undefined,
  };
}

function toMs(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function toChange({ id, at, user, action, entries, entryCount }: JsonObject): Change {
  const writes = filterObjects(entries).map(toWrite);
  return {
    ...{ id: String(id), atMs: Number(at), user: String(user), action: String(action), writes },
    writeCount: toNumber(entryCount) ?? writes.length,
  };
}

function toWrite({ kind, id, action, differences }: JsonObject): Write {
  return {
    ...{ kind: String(kind), id: String(id), action: String(action) },
    differences: filterObjects(differences).map(({ path, before, after }) => ({ path: String(path), before, after })),
  };
}

function toCreatedKey(answer: unknown): CreatedKey {
  const { id, key } = toObject(answer);
  if (typeof key !== 'string') throw new ServiceError({ status: 200, code: 'broke_off', message: '' });
  return { id: String(id), key };
}
