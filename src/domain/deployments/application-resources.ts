import type { Clock } from '#base/time/clock.ts';
import type { AuditAction } from '#contract/administration/audit-actions.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '../callers/caller.ts';
import { toBucket } from '../files/bucket.ts';
import { type FolderPage, type FolderQuery, listFolder } from '../files/list-folder.ts';
import {
  createDestinationExistsError,
  createSourceNotFoundError,
  type Relocation,
  type ResourceLocation,
} from '../files/resource-location.ts';
import { requireReadable, requireWritable } from '../files/resource-rights.ts';
import type { RecordAudit } from '../usage/journal.ts';
import { applicationPrefix, parseApplicationLocation } from './application-location.ts';
import type { ApplicationStore, StoredApplication } from './application-store.ts';

export interface ApplicationResourcesDeps {
  readonly store: ApplicationStore;
  readonly clock: Clock;
  /** Generates ETags. */
  readonly newId: () => string;
  readonly recordAudit: RecordAudit;
}

/** Properties of an application as a stored resource. */
export interface ApplicationInfo extends Pick<StoredApplication, 'etag' | 'createdAtMs' | 'updatedAtMs'> {
  /** Path below the bucket. */
  readonly path: string;
  /** URL as the owner spelled it. Undefined if it is unknown. */
  readonly url?: string | undefined;
}

/** Maximum number of applications per user. */
const maxApplications = 200;

/** Lists, moves, and copies the applications of users like files. All methods may throw `StoreError`. */
export class ApplicationResources {
  readonly #deps: ApplicationResourcesDeps;

  constructor(deps: ApplicationResourcesDeps) {
    this.#deps = deps;
  }

  /** Returns undefined if the application does not exist. Throws `access_denied`. */
  async find(caller: Caller, location: ResourceLocation): Promise<ApplicationInfo | undefined> {
    requireReadable(caller, location);
    const stored = await this.#deps.store.find(toId(location));
    return stored && toApplicationInfo(stored);
  }

  /** Returns one page of a folder. Throws `access_denied`. */
  async list(
    caller: Caller,
    { path: prefix, ...location }: ResourceLocation,
    query: FolderQuery,
  ): Promise<FolderPage<ApplicationInfo>> {
    requireReadable(caller, { path: prefix, ...location });
    const isOwn = toBucket(caller.subject) === location.bucket;
    const all = (isOwn ? await this.#deps.store.list(caller.subject) : []).map(toApplicationInfo);
    all.sort((left, right) => comparePaths(left.path, right.path));
    return listFolder(
      async ({ after, limit, ...within }) => {
        const isAfter = (path: string): boolean => after === undefined || comparePaths(path, after) > 0;
        const remaining = all.filter(({ path }) => path.startsWith(within.prefix) && isAfter(path));
        const items = remaining.slice(0, limit);
        return { items, next: remaining.length > limit ? items.at(-1)?.path : undefined };
      },
      { ...query, prefix },
    );
  }

  /** Changes the ID of an application and keeps its versions. Throws `access_denied` or `invalid_request`. */
  async move(caller: Caller, { from, to, destinationUrl, replaces }: Relocation, requestId: string): Promise<void> {
    requireWritable(caller, from);
    requireWritable(caller, to);
    const { store, clock, newId } = this.#deps;
    const ids = { from: toId(from), to: toId(to) };
    const spelling = findSpelling(destinationUrl);
    const outcome = await store.move({ ...ids, spelling, replaces, nowMs: clock.epochMs(), etag: newId() });
    if (outcome === 'absent') throw createSourceNotFoundError();
    if (outcome === 'occupied') throw createDestinationExistsError();
    this.#recordAudit('application.saved', { caller, id: ids.to, requestId });
    this.#recordAudit('application.deleted', { caller, id: ids.from, requestId });
  }

  /** Creates an application with the same settings. Throws the errors of `move`, and `payload_too_large`. */
  async copy(caller: Caller, { from, to, destinationUrl, replaces }: Relocation, requestId: string): Promise<void> {
    requireReadable(caller, from);
    requireWritable(caller, to);
    const { store, clock, newId } = this.#deps;
    const source = await store.find(toId(from));
    if (source === undefined) throw createSourceNotFoundError();
    const id = toId(to);
    if ((await store.find(id)) === undefined) requireCapacity(await store.list(caller.subject));
    const nowMs = clock.epochMs();
    const overrides = { id, spelling: findSpelling(destinationUrl), owner: caller.subject, etag: newId() };
    // Users received access to the original only.
    const { users: _users, ...entry } = source.entry;
    const copied = { ...source, ...overrides, entry, createdAtMs: nowMs, updatedAtMs: nowMs };
    const stored = await store.put(copied, replaces ? undefined : 'absent');
    if (stored === undefined) throw createDestinationExistsError();
    this.#recordAudit('application.saved', { caller, id, requestId });
  }

  #recordAudit(action: AuditAction, { caller, id, requestId }: { caller: Caller; id: string; requestId: string }): void {
    this.#deps.recordAudit({ action, subject: caller.subject, object: id, requestId });
  }
}

/** Throws `payload_too_large` if a user has the maximum number of applications. */
export function requireCapacity(ownApplications: readonly StoredApplication[]): void {
  if (ownApplications.length < maxApplications) return;
  throw new ParleyError(
    'payload_too_large',
    `You have ${ownApplications.length} applications, which is the maximum. Delete one to create another.`,
  );
}

function toId({ bucket, path }: ResourceLocation): string {
  return `${applicationPrefix}${bucket}/${path}`;
}

function findSpelling(url: string): string | undefined {
  return parseApplicationLocation(url.slice(applicationPrefix.length))?.spelling;
}

/** Paths that need no encoding. */
const plainPath = /^[\w./~!$&'()*+,;=:@-]+$/;

function toApplicationInfo({ id, spelling, etag, createdAtMs, updatedAtMs }: StoredApplication): ApplicationInfo {
  const url = spelling ?? (plainPath.test(id) ? id : undefined);
  return { path: id.slice(id.indexOf('/', applicationPrefix.length) + 1), url, etag, createdAtMs, updatedAtMs };
}

function comparePaths(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
