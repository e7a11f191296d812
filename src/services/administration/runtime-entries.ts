import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import { entryKinds } from '#contract/administration/entry-kinds.ts';
import { isActiveKey } from '#contract/configuration/access.ts';
import type { ConfigurationError, ValidConfiguration } from '#contract/configuration/checked-configuration.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import { complete } from '#contract/configuration/schema-node.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { adminRole, defaultRole } from '#contract/roles.ts';
import type { EntryChange, EntryRef, EntryStore, EntryWrite, RuntimeEntry } from '#domain/administration/entry-store.ts';
import { StoreError } from '#domain/store-error.ts';
import { DataRefresher, type DataRefresherDeps } from '../node/data-refresher.ts';
import {
  type ActiveLayers,
  activateLayers,
  type CheckConfiguration,
  checkLayers,
  createCulpritFinder,
  equalsFileEntry,
  isInFiles,
  sortByCreation,
  toEntryKey,
  toVisibleKeyPath,
} from './configuration-layers.ts';
import type { FileLayer } from './file-layer.ts';

/** Maximum time that a node accepts keys created at run time while it cannot read the store. */
const maxStaleMs = 60_000;
/** Attempts to store a change while other changes are stored. */
const maxAttempts = 20;
const maxListedPaths = 5;

export interface RuntimeEntriesDeps extends DataRefresherDeps {
  readonly store: EntryStore;
  /** Files that are in force on all nodes. If undefined, each node uses its own files. */
  readonly fileLayer?: Pick<FileLayer, 'apply' | 'findReplacement'> | undefined;
  /** Valid configuration of the files at the start. */
  readonly files: ValidConfiguration;
  readonly check: CheckConfiguration;
  /** Puts a configuration in force. */
  readonly activate: (valid: ValidConfiguration) => void;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** A planned write of one entry. */
export type PlannedWrite = EntryRef & {
  /** Undefined deletes the entry. */
  readonly after: EntryWrite['after'];
};

/** State of the entries for a plan. */
export interface EntryView {
  /** Configuration in force. */
  readonly configuration: Configuration;
  readonly entries: ReadonlyMap<string, RuntimeEntry>;
  find(entry: EntryRef): RuntimeEntry | undefined;
  isInFiles(entry: EntryRef): boolean;
}

export interface ChangeOptions extends Pick<EntryChange, 'author' | 'action' | 'undoes'> {
  /** Only validates the change. */
  readonly isDryRun?: boolean;
  /** Deletes entries although other entries use them. */
  readonly isForced?: boolean;
  /** Allows writes of entries that are in the files. They take effect when the files no longer have the entry. */
  readonly allowsFileEntries?: boolean;
}

/** Result of a change. `writes` is empty if the entries already have the planned values. */
export interface ChangeResult {
  /** Undefined if nothing was stored. */
  readonly change: EntryChange | undefined;
  readonly writes: readonly EntryWrite[];
}

/**
 * Entries that administrators create at run time. With the configuration of the files, they form the configuration in force on
 * this node. A change is stored only if the complete configuration is valid with it.
 */
export class RuntimeEntries {
  readonly #deps: RuntimeEntriesDeps;
  readonly #refresher: DataRefresher;
  #files: ValidConfiguration;
  #inForce: ValidConfiguration;
  #entries = new Map<string, RuntimeEntry>();
  /** Keys of the entries that are not valid with the current files. */
  #omittedKeys: ReadonlySet<string> = new Set();
  /** Revision of the entries. -1 before the first read. */
  #revision = -1;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  /** Checked configuration of the change that this node has just stored, so that it is not checked again. */
  #preparedChange: { readonly revision: number; readonly files: ValidConfiguration; readonly layers: ActiveLayers } | undefined;
  /** Time of the creation of the newest entry, in milliseconds since the epoch. */
  #latestMs = Number.NEGATIVE_INFINITY;
  /** Whether the entries could not be put in force. */
  #isOutdated = false;
  /** Changes of this node run one after the other. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(deps: RuntimeEntriesDeps) {
    this.#deps = deps;
    this.#files = deps.files;
    this.#inForce = deps.files;
    this.#refresher = new DataRefresher(deps, {
      name: 'entries',
      outageMessage: 'could not read the entries of other nodes. The known entries stay in effect',
      readData: () => this.#read(),
      isDue: () => this.#revision === -1,
    });
  }

  /** Reads the stored entries. If the store is unavailable, they take effect as soon as it is available. */
  async start(): Promise<void> {
    const { reportError } = this.#deps;
    await this.#refresher.load().catch((error) => reportError('could not read the entries created at run time', error));
  }

  close(): void {
    this.#refresher.close();
  }

  /** Replaces the configuration of the files. */
  replaceFiles(files: ValidConfiguration): void {
    this.#files = files;
    this.#activate();
  }

  /**
   * Stores the files of this node if they must replace those of all nodes. If another change is stored concurrently, the next
   * call decides again. Throws `StoreError`.
   */
  async shareFiles(): Promise<void> {
    const { fileLayer, store } = this.#deps;
    if (fileLayer === undefined) return;
    await this.#refresher.load();
    const revision = this.#revision;
    const files = await fileLayer.findReplacement();
    if (files !== undefined) await this.#refresher.write(() => store.commitFiles(revision, files));
  }

  /** Configuration in force. */
  get configuration(): Configuration {
    return this.#inForce.configuration;
  }

  /** Configuration of the files, without entries. */
  get files(): Configuration {
    return this.#files.configuration;
  }

  /** Reads the store, and returns the entries in the order of their creation. Throws `StoreError`. */
  async list(): Promise<ReadonlyMap<string, RuntimeEntry>> {
    await this.#refresher.load();
    return this.#entries;
  }

  /** Whether this node has not read the store for so long that it must not accept keys created at run time. */
  get isStale(): boolean {
    return this.#deps.isShared && this.#revision !== -1 && this.#deps.clock.nowMs() - this.#refreshedAtMs > maxStaleMs;
  }

  /**
   * Throws `StoreError` if this node cannot decide whether a key is valid. `name` is the name of its entry. If undefined, the node
   * does not know the key.
   */
  requireCurrentKeys(name: string | undefined): void {
    const isOutdated =
      name === undefined ? this.#revision === -1 : this.isStale && !isInFiles(this.files, { kind: 'keys', id: name });
    if (isOutdated) throw new StoreError('the keys created at run time could not be read for some time');
  }

  /**
   * Plans a change with the latest entries, validates it, and stores it. Resolves when it is in force on this node. Throws the
   * errors of `plan`, and:
   * - `invalid_request` if an entry is not valid.
   * - `configured_in_file` for an entry of the files.
   * - `in_use` if other entries would become invalid, refer to a missing entry, or have other limits, unless `isForced` is set.
   *   Also if another identity provider would become the first one.
   * - `key_revoked` if a secret that was deleted or replaced would become valid again.
   * - `last_administrator` if no administrator would remain.
   */
  change(plan: (view: EntryView) => readonly PlannedWrite[], options: ChangeOptions): Promise<ChangeResult> {
    const result = this.#lastChange.catch(() => undefined).then(() => this.#change(plan, options));
    this.#lastChange = result;
    return result;
  }

  async #change(plan: (view: EntryView) => readonly PlannedWrite[], options: ChangeOptions): Promise<ChangeResult> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      await this.#refresher.load();
      const planned = plan(this.#toView());
      const writes = this.#toWrites(planned, options);
      if (writes.length === 0) return { change: undefined, writes };
      // Later than all other entries, even if the clocks of the nodes differ, because the order of the entries matters.
      const atMs = Math.max(this.#deps.clock.epochMs(), this.#latestMs + 1);
      const layers = this.#requireValid(writes, { ...options, atMs });
      const [revision, files] = [this.#revision, this.#files];
      const revokedDigests = await this.#listRevokedDigests(writes);
      const { author, action, undoes, isDryRun } = options;
      if (isDryRun) return { change: undefined, writes };
      const id = this.#deps.newId();
      const change = { id, atMs, author, action, ...(undoes !== undefined && { undoes }), writes, revokedDigests };
      const committed = await this.#refresher.write(async () => {
        const result = await this.#deps.store.commit(revision, change);
        if (result !== 'conflict' && layers !== undefined) this.#preparedChange = { revision: result, files, layers };
        return result;
      });
      this.#preparedChange = undefined;
      if (committed !== 'conflict') return { change, writes };
    }
    throw new StoreError('too many other changes are being stored');
  }

  /** Returns the digests that the writes revoke. Throws `key_revoked` if they add a digest that was revoked earlier. */
  async #listRevokedDigests(writes: readonly EntryWrite[]): Promise<readonly string[]> {
    const keys = writes.filter(({ kind }) => kind === 'keys');
    const before = new Set(keys.flatMap((write) => listDigests(write.before?.value)));
    const after = new Map(keys.flatMap((write) => listDigests(write.after?.value).map((digest) => [digest, write.id] as const)));
    const added = [...after.keys()].filter((digest) => !before.has(digest));
    const [revoked] = added.length === 0 ? [] : await this.#deps.store.findRevoked(added);
    if (revoked !== undefined)
      throw new ParleyError(
        'key_revoked',
        `The secret of the key ${after.get(revoked)} was deleted or replaced, and does not become valid again. Create a new key.`,
      );
    return [...before].filter((digest) => !after.has(digest));
  }

  #toView(): EntryView {
    return {
      configuration: this.#inForce.configuration,
      entries: this.#entries,
      find: (entry) => this.#entries.get(toEntryKey(entry)),
      isInFiles: (entry) => isInFiles(this.#files.configuration, entry),
    };
  }

  /** Returns the writes that change something. */
  #toWrites(planned: readonly PlannedWrite[], { allowsFileEntries }: ChangeOptions): readonly EntryWrite[] {
    const inFiles: EntryRef[] = [];
    const writes = planned.flatMap(({ kind, id, after }): EntryWrite[] => {
      const before = this.#entries.get(toEntryKey({ kind, id }));
      if (isDeepStrictEqual(before?.value, after?.value)) return [];
      const write = { kind, id, before, after };
      if (allowsFileEntries || !isInFiles(this.#files.configuration, write)) return [write];
      const isEqual =
        after !== undefined && equalsFileEntry(this.#files.configuration, write, complete(entryKinds[kind].schema, after.value));
      if (!isEqual) inFiles.push(write);
      return [];
    });
    if (inFiles.length > 0) throw createInFilesError(inFiles);
    return writes;
  }

  /**
   * Validates the configuration with the writes, and returns it. Returns undefined if entries are invalid, because the
   * configuration in force then omits them and must be computed again.
   */
  #requireValid(
    writes: readonly EntryWrite[],
    { isForced = false, atMs }: Pick<ChangeOptions, 'isForced'> & { readonly atMs: number },
  ): ActiveLayers | undefined {
    const { check, clock } = this.#deps;
    // An entry that a changed file made invalid does not block changes of other entries.
    const changed = new Map([...this.#entries].filter(([key]) => !this.#omittedKeys.has(key)));
    for (const { kind, id, before, after } of writes) {
      const key = toEntryKey({ kind, id });
      if (after === undefined) changed.delete(key);
      else changed.set(key, { kind, id, revision: 0, createdAtMs: before?.createdAtMs ?? atMs, updatedAtMs: atMs, ...after });
    }
    const next = sortByCreation(changed);
    const checked = checkLayers(this.#files, next, check);
    const errors = 'errors' in checked ? checked.errors : [];
    const writtenEntries = writes.filter(({ after }) => after !== undefined);
    const findWritten = createCulpritFinder(writtenEntries);
    const ownErrors = errors.filter(({ path }) => findWritten(path) !== undefined);
    if (ownErrors.length > 0) throw createInvalidError(ownErrors);
    const dangling =
      'errors' in checked || writes.length === writtenEntries.length ? [] : this.#findNewDangling(checked.warnings);
    const uses = [...errors, ...dangling];
    const blocking = [...uses.map(({ path }) => path), ...this.#findNameUses(writes, next)];
    if (!isForced && blocking.length > 0) throw createInUseError(blocking.filter((path) => findWritten(path) === undefined));
    const after = 'errors' in checked ? activateLayers(this.#files, next, check).valid : checked;
    this.#requireSameFirstProvider(after.configuration);
    const nowMs = clock.epochMs();
    if (hasAdministrator(this.#inForce.configuration, nowMs) && !hasAdministrator(after.configuration, nowMs))
      throw new ParleyError(
        'last_administrator',
        'After this change, no key or sign-in would have the role admin. Create another administrator first.',
      );
    return 'errors' in checked || this.#omittedKeys.size > 0 ? undefined : { valid: checked, omitted: new Set() };
  }

  /** Returns those warnings about missing entries that the current configuration does not cause already. */
  #findNewDangling(warnings: readonly ConfigurationError[]): readonly ConfigurationError[] {
    const findNew = (knownIssues: ReadonlySet<string>) =>
      warnings.filter((issue) => isDangling(issue) && !knownIssues.has(toIssueKey(issue)));
    const added = findNew(new Set(this.#inForce.warnings.map(toIssueKey)));
    if (added.length === 0) return added;
    // Some warnings depend on the time, such as the warning about an expired key.
    const current = new Map([...this.#entries].filter(([key]) => !this.#omittedKeys.has(key)));
    return findNew(new Set(checkLayers(this.#files, current, this.#deps.check).warnings.map(toIssueKey)));
  }

  /** Throws `in_use` if another provider becomes the first one, whose users have IDs without a prefix. */
  #requireSameFirstProvider({ identityProviders }: Configuration): void {
    const [before] = Object.keys(this.#inForce.configuration.identityProviders);
    const [after] = Object.keys(identityProviders);
    if (before === undefined || after === undefined || before === after) return;
    throw new ParleyError(
      'in_use',
      `${before} must stay the first identity provider, because the user IDs of the first one have no prefix. Otherwise, users of ${after} could take over the user IDs of users of ${before}. To delete ${before}, delete the other providers first.`,
      { members: { usedBy: Object.keys(identityProviders).map((name) => formatPath(['identityProviders', name])) } },
    );
  }

  /**
   * Returns the paths of keys whose role or project the writes delete. These keys would have other limits afterward: those of
   * `default` for a deleted role, and none for a deleted project.
   */
  #findNameUses(writes: readonly EntryWrite[], next: ReadonlyMap<string, RuntimeEntry>): readonly string[] {
    const findDeleted = (kind: EntryRef['kind']) =>
      new Set(writes.filter((write) => write.kind === kind && write.after === undefined).map(({ id }) => id));
    const [deletedRoles, deletedProjects] = [findDeleted('roles'), findDeleted('projects')];
    if (deletedRoles.size + deletedProjects.size === 0) return [];
    const keys = [...next.values()].filter(({ kind }) => kind === 'keys').map(({ id, value }) => [id, value] as const);
    return [...Object.entries(this.#files.configuration.keys), ...keys]
      .filter(
        ([, { role, roles, project }]) =>
          deletedProjects.has(String(project)) ||
          [role, ...(Array.isArray(roles) ? roles : [])].some((name) => deletedRoles.has(String(name))),
      )
      .map(([id]) => toVisibleKeyPath(this.#files.configuration.keys, id));
  }

  async #read(): Promise<void> {
    const { store, clock, fileLayer } = this.#deps;
    const startedAtMs = clock.nowMs();
    const since = this.isStale ? -1 : this.#revision;
    const { revision, entries, deleted, files: storedFiles } = await store.readUpdates(since);
    if (revision < since) {
      // The database was restored from a backup.
      this.#revision = -1;
      return this.#read();
    }
    this.#refreshedAtMs = startedAtMs;
    if (revision === this.#revision && !this.#isOutdated) return;
    const newFiles = storedFiles && fileLayer?.apply(storedFiles);
    const hasNewFiles = newFiles !== undefined && newFiles !== this.#files;
    if (hasNewFiles) this.#files = newFiles;
    const { revision: preparedRevision, files, layers } = this.#preparedChange ?? {};
    const isPrepared = preparedRevision === revision && since === revision - 1 && files === this.#files;
    const next = since === -1 ? new Map<string, RuntimeEntry>() : new Map(this.#entries);
    for (const entry of entries) next.set(toEntryKey(entry), entry);
    for (const entry of deleted) next.delete(toEntryKey(entry));
    const hasChanged =
      hasNewFiles || entries.length > 0 || deleted.length > 0 || this.#entries.size > next.size || this.#isOutdated;
    this.#entries = sortByCreation(next);
    this.#latestMs = Math.max(this.#latestMs, ...entries.slice(-1).map(({ createdAtMs }) => createdAtMs));
    this.#revision = revision;
    if (hasChanged) this.#activate(isPrepared ? layers : undefined);
  }

  #activate(prepared?: ActiveLayers): void {
    const { check, activate } = this.#deps;
    this.#isOutdated = true;
    const { valid, omitted } = prepared ?? activateLayers(this.#files, this.#entries, check);
    activate(valid);
    this.#inForce = valid;
    this.#omittedKeys = omitted;
    this.#isOutdated = false;
  }
}

/** Returns whether a warning is about one entry that refers to something missing. */
function isDangling({ path, isNotice }: ConfigurationError): boolean {
  return isNotice !== true && /[.[]/.test(path);
}

function toIssueKey({ path, message }: ConfigurationError): string {
  return `${path} ${message}`;
}

/** An error of an entry. */
export type EntryError = Pick<ConfigurationError, 'path' | 'message' | 'hint'>;

/** Returns one error that lists all errors of entries. The paths start at the configuration. */
export function createInvalidError(entryErrors: readonly EntryError[]): ParleyError {
  const errors = entryErrors.map(({ path, message, hint }) => ({ path, message, ...(hint !== undefined && { hint }) }));
  const messages = errors.slice(0, maxListedPaths).map(({ path, message }) => `${path} ${message}`);
  const suffix = errors.length > maxListedPaths ? `, and ${errors.length - maxListedPaths} more` : '';
  const param = errors[0]?.path ?? null;
  return new ParleyError('invalid_request', `${messages.join('. ')}${suffix}.`, { param, members: { errors } });
}

function createInFilesError(entries: readonly EntryRef[]): ParleyError {
  const paths = entries.map(({ kind, id }) => formatPath([entryKinds[kind].section, id]));
  const suffix = paths.length > maxListedPaths ? `, and ${paths.length - maxListedPaths} more` : '';
  const errors = paths.map((path) => ({ path, message: 'is in a configuration file, which takes precedence' }));
  return new ParleyError(
    'configured_in_file',
    `These entries are in a configuration file, which takes precedence: ${paths.slice(0, maxListedPaths).join(', ')}${suffix}. Change the file.`,
    { param: paths[0] ?? null, members: { errors } },
  );
}

function createInUseError(paths: readonly string[]): ParleyError {
  const users = [...new Set(paths)];
  const suffix = users.length > maxListedPaths ? ', …' : '';
  return new ParleyError(
    'in_use',
    `Other entries depend on the current value: ${users.slice(0, maxListedPaths).join(', ')}${suffix}. Change them first, or delete the entry with ?force=true.`,
    { members: { usedBy: users } },
  );
}

/** Returns whether a key or a sign-in can have the role `admin`. `temporaryKey` is the name of a key that does not count. */
export function hasAdministrator({ keys, identityProviders }: Configuration, nowMs: number, temporaryKey?: string): boolean {
  if (Object.values(identityProviders).some(({ rolesClaim }) => rolesClaim !== undefined)) return true;
  return Object.entries(keys).some(([name, entry]) => {
    const { role = defaultRole, roles = [role], allowedIps, deployments } = entry;
    const isUnbound = deployments === undefined && allowedIps?.length !== 0;
    return name !== temporaryKey && isActiveKey(entry, nowMs) && isUnbound && roles.includes(adminRole);
  });
}

/** Returns the SHA-256 digests of the secrets that a key accepts. */
function listDigests(value: JsonObject | undefined): readonly string[] {
  const { sha256, previous } = value ?? {};
  const digests = [sha256, isJsonObject(previous) ? previous.sha256 : undefined];
  return digests.filter((digest) => typeof digest === 'string').map((digest) => digest.toLowerCase());
}
