import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#base/json/json.ts';
import { type EntryKind, type EntrySection, entryKindNames, entryKinds } from '#contract/administration/entry-kinds.ts';
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

/** Returns whether the configuration files have an entry. It then takes precedence over the run-time entry. */
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
    const own = [...entries.values()].filter((entry) => entry.kind === kind && !isInFiles(files.configuration, entry));
    if (own.length === 0) continue;
    const target: JsonObject = Object.assign(Object.create(null), files.configuration[section]);
    for (const { id, value } of own) {
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
  const errors: ConfigurationError[] = [];
  const omitted = new Set<string>();
  for (;;) {
    const checked = checkLayers(files, remaining, check);
    if (!('errors' in checked)) return { valid: { ...checked, warnings: [...checked.warnings, ...errors] }, omitted };
    for (const error of checked.errors) {
      const entry = findEntryAt(remaining.values(), error.path);
      if (entry !== undefined) omitted.add(toEntryKey(entry));
      errors.push({ ...error, message: `${error.message}. The entry is not in force` });
    }
    // If the errors name no entry, only the files remain.
    const before = remaining.size;
    for (const key of omitted) remaining.delete(key);
    if (remaining.size < before) continue;
    for (const key of remaining.keys()) omitted.add(key);
    remaining.clear();
  }
}

/** Returns the entry that a formatted path is in. */
export function findEntryAt<Entry extends EntryRef>(entries: Iterable<Entry>, path: string): Entry | undefined {
  for (const entry of entries) if (isAt(path, entry)) return entry;
}

/** Returns whether a formatted path is in an entry. */
export function isAt(path: string, { kind, id }: EntryRef): boolean {
  const start = formatPath([entryKinds[kind].section, id]);
  return path === start || (path.startsWith(start) && /^[.[]/.test(path.slice(start.length, start.length + 1)));
}

/** Returns whether a value equals the entry of the files, apart from defaults. */
export function equalsFileEntry(files: Configuration, { kind, id }: EntryRef, completed: unknown): boolean {
  const section: Readonly<Record<string, unknown>> = files[entryKinds[kind].section as EntrySection];
  return isDeepStrictEqual(toPlain(section[id]), toPlain(completed));
}

/** Objects of the configuration have no prototype. */
function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

/** Names of the kinds with their sections, for documents. */
export function toDocument(entries: Iterable<Pick<RuntimeEntry, 'kind' | 'id' | 'value'>>): Record<string, JsonObject> {
  const document: Record<string, JsonObject> = {};
  for (const { kind, id, value } of entries) {
    const { section } = entryKinds[kind as EntryKind];
    document[section] ??= Object.create(null) as JsonObject;
    document[section][id] = value;
  }
  return document;
}
