import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { entryKindNames, entryKinds } from '#contract/administration/entry-kinds.ts';
import { type KeyEntry, toVisibleKeyName } from '#contract/configuration/access.ts';
import type {
  ConfigurationError,
  Origin,
  RejectedConfiguration,
  ValidConfiguration,
} from '#contract/configuration/checked-configuration.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { formatPath } from '#contract/configuration/issue.ts';
import type { EntryRef, RuntimeEntry } from '#domain/administration/entry-store.ts';

/** Entries of all kinds, in the order of their creation. */
export type EntryMap = ReadonlyMap<string, RuntimeEntry>;

/** Validates a configuration. Does not throw. */
export type CheckConfiguration = (value: unknown, origin?: Origin) => ValidConfiguration | RejectedConfiguration;

/** Returns the key of an entry in an `EntryMap`. */
export function toEntryKey({ kind, id }: EntryRef): string {
  return `${kind} ${id}`;
}

/** Returns whether the configuration files have an entry with this kind and ID, which then takes precedence. */
export function isInFiles(files: Configuration, { kind, id }: EntryRef): boolean {
  return Object.hasOwn(files[entryKinds[kind].section], id);
}

/** Adds entries to the configuration of the files, and validates the result. Entries of the files take precedence. */
export function checkLayers(
  files: ValidConfiguration,
  entries: EntryMap,
  check: CheckConfiguration,
): ValidConfiguration | RejectedConfiguration {
  const merged: Record<string, unknown> = { ...files.configuration };
  const added = new Set<string>();
  for (const kind of entryKindNames) {
    const { section } = entryKinds[kind];
    const sectionEntries = [...entries.values()].filter((entry) => entry.kind === kind && !isInFiles(files.configuration, entry));
    if (sectionEntries.length === 0) continue;
    const target: JsonObject = Object.assign(Object.create(null), files.configuration[section]);
    for (const { id, value } of sectionEntries) {
      target[id] = value;
      added.add(toSectionKey(section, id));
    }
    merged[section] = target;
  }
  if (added.size === 0) return files;
  const { writtenKeys, findFile } = files.origin;
  const isAdded = ([section, id]: readonly (string | number)[]) => added.has(toSectionKey(section, id));
  return check(merged, { writtenKeys, findFile: (path) => (isAdded(path) ? '' : findFile(path)) });
}

function toSectionKey(section: string | number | undefined, id: string | number | undefined): string {
  return `${section} ${id}`;
}

/** A configuration that is in force. */
export interface ActiveLayers {
  /** Its warnings include the errors of the omitted entries. */
  readonly valid: ValidConfiguration;
  /** Keys of the entries that are not in force, because the configuration would be invalid with them. */
  readonly omitted: ReadonlySet<string>;
}

/**
 * Like `checkLayers`, but leaves out entries that are not valid with the current files, so that the node can always continue. A
 * changed file must not make a node unusable.
 */
export function activateLayers(files: ValidConfiguration, entries: EntryMap, check: CheckConfiguration): ActiveLayers {
  const remaining = new Map(entries);
  const findEntry = createCulpritFinder(entries.values());
  const errors: ConfigurationError[] = [];
  const omitted = new Set<string>();
  for (;;) {
    const checked = checkLayers(files, remaining, check);
    if (!('errors' in checked)) return { valid: { ...checked, warnings: [...checked.warnings, ...errors] }, omitted };
    const before = remaining.size;
    const omit = (entry: RuntimeEntry): void => {
      omitted.add(toEntryKey(entry));
      remaining.delete(toEntryKey(entry));
    };
    for (const error of checked.errors) {
      const entry = findEntry(error.path);
      if (entry !== undefined) omit(entry);
      errors.push({ ...error, message: `${error.message}. The entry is not in effect` });
    }
    for (const { entry, model } of findDependentQuickApps(files.configuration, remaining, omitted)) {
      omit(entry);
      const path = formatPath(['applications', entry.id, 'applicationProperties', 'model']);
      errors.push({
        file: '',
        path,
        message: `refers to ${JSON.stringify(model)}, which is not in effect. So this entry is not in effect either`,
      });
    }
    // If the errors name no entry, only the files remain.
    if (remaining.size === before) for (const entry of [...remaining.values()]) omit(entry);
  }
}

/**
 * Yields the quick apps whose model is omitted, directly or through other quick apps. Finding them only by errors would need a
 * check of all entries for each quick app of a chain.
 */
function* findDependentQuickApps(
  files: Configuration,
  remaining: ReadonlyMap<string, RuntimeEntry>,
  omitted: ReadonlySet<string>,
): Iterable<{ readonly entry: RuntimeEntry; readonly model: string }> {
  const appsByModel = new Map<string, RuntimeEntry[]>();
  for (const entry of remaining.values()) {
    const { endpoint, applicationProperties: properties } = entry.value;
    if (entry.kind !== 'applications' || endpoint !== undefined || !isJsonObject(properties)) continue;
    const { model } = properties;
    if (typeof model !== 'string') continue;
    const apps = appsByModel.get(model);
    if (apps === undefined) appsByModel.set(model, [entry]);
    else apps.push(entry);
  }
  const exists = (id: string) =>
    (['models', 'applications'] as const).some(
      (kind) => isInFiles(files, { kind, id }) || remaining.has(toEntryKey({ kind, id })),
    );
  const queue = [...omitted].map((key) => key.slice(key.indexOf(' ') + 1));
  for (const model of queue) {
    if (exists(model)) continue;
    const apps = appsByModel.get(model) ?? [];
    appsByModel.delete(model);
    for (const entry of apps) yield { entry, model };
    queue.push(...apps.map(({ id }) => id));
  }
}

/**
 * Returns a function that returns the entry that causes an error. Models and applications share one namespace, so the error of an
 * application of the files can be caused by a model.
 */
export function createCulpritFinder<Entry extends EntryRef>(entries: Iterable<Entry>): (path: string) => Entry | undefined {
  const findEntry = createEntryFinder(entries);
  const start = entryKinds.applications.section;
  return (path) =>
    findEntry(path) ??
    (path.startsWith(start) ? findEntry(`${entryKinds.models.section}${path.slice(start.length)}`) : undefined);
}

/** Returns a function that returns the entry that a formatted path is in. */
function createEntryFinder<Entry extends EntryRef>(entries: Iterable<Entry>): (path: string) => Entry | undefined {
  const byStart = new Map<string, Entry>();
  for (const entry of entries) byStart.set(formatPath([entryKinds[entry.kind].section, entry.id]), entry);
  return (path) => {
    for (let end = 1; end <= path.length; end += 1) {
      const isEnd = end === path.length || path[end] === '.' || path[end] === '[';
      const entry = isEnd ? byStart.get(path.slice(0, end)) : undefined;
      if (entry !== undefined) return entry;
    }
  };
}

/** Returns the entries in the order of their creation, so that all nodes have the same first identity provider. */
export function sortByCreation(entries: EntryMap): Map<string, RuntimeEntry> {
  const order = (left: RuntimeEntry, right: RuntimeEntry) =>
    left.createdAtMs - right.createdAtMs || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
  return new Map([...entries].sort(([, left], [, right]) => order(left, right)));
}

/** Returns the path of a key for messages. In configuration files, the name of a key can be its secret. */
export function toVisibleKeyPath(keys: Readonly<Record<string, KeyEntry>>, name: string): string {
  return formatPath(['keys', Object.hasOwn(keys, name) ? toVisibleKeyName(keys, name) : name]);
}

/** Returns whether a value with all defaults equals the entry of the files. */
export function equalsFileEntry(files: Configuration, { kind, id }: EntryRef, completed: unknown): boolean {
  const section: Readonly<Record<string, unknown>> = files[entryKinds[kind].section];
  return isDeepStrictEqual(toPlain(section[id] ?? null), toPlain(completed));
}

/** Returns a copy with ordinary objects, because objects of the configuration have no prototype. */
export function toPlain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** Groups entries by section, as in a configuration file. */
export function toDocument(entries: Iterable<Pick<RuntimeEntry, 'kind' | 'id' | 'value'>>): Record<string, JsonObject> {
  const document: Record<string, JsonObject> = {};
  for (const { kind, id, value } of entries) {
    const { section } = entryKinds[kind];
    document[section] ??= Object.create(null) as JsonObject;
    document[section][id] = value;
  }
  return document;
}
