import { useCallback, useEffect, useState } from 'react';
import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { isWithin, withoutFieldErrors } from '../builder/editors/form.ts';
import { getInitialValue } from '../builder/editors/shape.ts';
import { getValueAt, withValueAt } from '../builder/entry-parts.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import {
  type CreatedKey,
  createKey,
  type Entry,
  type EntryErrors,
  findLastAuthor,
  type Kind,
  readEntry,
  saveEntry,
  toEntryErrors,
} from './entries.ts';

/** A concurrent change with its author, and the entry that is stored now. */
export interface Conflict extends ConcurrentChange {
  /** '' if unknown. */
  readonly author: string;
  readonly stored: Entry;
}

/** An entry with its unsaved changes. */
export interface EntryDraft {
  /** Undefined while it loads. */
  readonly value: JsonObject | undefined;
  /** The stored entry. Undefined for a new one. */
  readonly stored: Entry | undefined;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  /** Error while loading or saving. Undefined if `errors` contains it. */
  readonly error: ErrorDetails | undefined;
  readonly errors: EntryErrors;
  readonly conflict: Conflict | undefined;
  /** A new key with its secret, which can be shown only once. */
  readonly createdKey: CreatedKey | undefined;
  /** Increments when the value is replaced, so that React mounts the fields again. */
  readonly version: number;
  readonly change: (path: Path, value: unknown) => void;
  /** ID of a new entry, as entered. */
  readonly newId: string;
  readonly setNewId: (id: string) => void;
  readonly save: () => Promise<void>;
  /** Sets the stored entry, and replaces the value with it or with the given value. */
  readonly accept: (stored: Entry, value?: JsonObject) => void;
  readonly load: () => Promise<void>;
}

const noErrors: EntryErrors = { byField: new Map(), general: [] };

/** Returns the draft of the entry with this ID, or of a new entry if the ID is ''. */
export function useEntryDraft(kind: Kind, id: string): EntryDraft {
  const { service, refresh } = usePage();
  const [initialValue] = useState(() => (id === '' ? createValue(kind) : undefined));
  const [value, setValue] = useState(initialValue);
  const [stored, setStored] = useState<Entry>();
  const [newId, setNewId] = useState('');
  const [isSaving, setIsSaving] = useState(false);
  const [error, setError] = useState<ErrorDetails>();
  const [errors, setErrors] = useState(noErrors);
  const [conflict, setConflict] = useState<Conflict>();
  const [createdKey, setCreatedKey] = useState<CreatedKey>();
  const [version, setVersion] = useState(0);

  const accept = useCallback((next: Entry, nextValue = next.value): void => {
    setStored(next);
    setValue(nextValue);
    setError(undefined);
    setErrors(noErrors);
    setConflict(undefined);
    setVersion((current) => current + 1);
  }, []);
  const load = useCallback(
    () => readEntry(service, kind.kind, id).then(accept, (error: unknown) => setError(toErrorDetails(error))),
    [service, kind, id, accept],
  );
  useEffect(() => {
    if (id !== '') void load();
  }, [id, load]);

  const change = useCallback((path: Path, next: unknown): void => {
    setValue((current) => withoutEmptyGroup(withValueAt(current, path, next), path) as JsonObject);
    setErrors(({ byField, general }) => ({ general, byField: withoutFieldErrors(byField, formatPath(path)) }));
  }, []);

  const reportConflict = async (base: Entry, input: JsonObject): Promise<void> => {
    const [latest, author] = await Promise.all([
      readEntry(service, kind.kind, base.id),
      findLastAuthor(service, kind.kind, base.id).catch(() => ''),
    ]);
    setConflict({ ...mergeChanges(base.value, input, latest.value), author, stored: latest });
  };

  const save = async (): Promise<void> => {
    if (value === undefined || isSaving) return;
    setError(undefined);
    setErrors(noErrors);
    setIsSaving(true);
    try {
      if (stored === undefined && kind.kind === 'keys') setCreatedKey(await createKey(service, value));
      else accept(await saveEntry(service, kind.kind, { id: stored?.id ?? newId.trim(), value, etag: stored?.etag }));
      await refresh().catch(() => undefined);
    } catch (error) {
      const details = toErrorDetails(error);
      if (details.status === 412 && stored !== undefined)
        await reportConflict(stored, value).catch((readError: unknown) => setError(toErrorDetails(readError)));
      else if (details.status === 400) setErrors(toEntryErrors(details, kind.section, stored?.id ?? newId.trim()));
      else setError(details.status === 412 ? { ...details, code: 'id_taken' } : details);
    } finally {
      setIsSaving(false);
    }
  };
  const isChanged = value !== (stored?.value ?? initialValue) || (stored === undefined && newId !== '');
  const isDirty = createdKey === undefined && value !== undefined && isChanged;
  const input = { value, newId, setNewId, change, isDirty };
  return { ...input, stored, isSaving, error, errors, conflict, createdKey, version, save, accept, load };
}

function createValue({ kind, schema }: Kind): JsonObject {
  if (kind === 'models') return { upstreams: [{ protocol: 'openai' }] };
  return toObject(getInitialValue(schema));
}

/** Removes the parent of a removed value if it is now empty. An empty entry of `limits` stays, because it removes all limits. */
function withoutEmptyGroup(value: unknown, path: Path): unknown {
  const group = path.slice(0, -1);
  const isGroup = typeof group.at(-1) === 'string' && group.at(-2) !== 'limits';
  const content = getValueAt(value, group);
  const isEmpty = isGroup && isJsonObject(content) && Object.keys(content).length === 0;
  return isEmpty ? withValueAt(value, group, undefined) : value;
}

/** A value that differs between two versions of an entry. */
interface ValueDifference {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the values that differ. A list is compared as one value. */
function listValueDifferences(before: unknown, after: unknown, path: Path = []): readonly ValueDifference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => listValueDifferences(getMember(before, key), getMember(after, key), [...path, key]));
}

/** A change that another administrator saved while this user edited the same entry. */
interface ConcurrentChange {
  /** Changes of the other administrator, and whether this user changed the same value. */
  readonly theirs: readonly (ValueDifference & { readonly isContested: boolean })[];
  /** The stored entry with the changes of this user, which take precedence. */
  readonly merged: JsonObject;
}

/** Merges the input of this user into the stored entry. `base` is the version that both users changed. */
export function mergeChanges(base: JsonObject, input: JsonObject, stored: JsonObject): ConcurrentChange {
  const ownDifferences = listValueDifferences(base, input);
  const ownPaths = ownDifferences.map(({ path }) => formatPath(path));
  const theirs = listValueDifferences(base, stored).map((difference) => {
    const path = formatPath(difference.path);
    return { ...difference, isContested: ownPaths.some((ownPath) => isWithin(path, ownPath) || isWithin(ownPath, path)) };
  });
  const merged = ownDifferences.reduce<unknown>((value, { path, after }) => withValueAt(value, path, after), stored);
  return { theirs, merged: isJsonObject(merged) ? merged : input };
}

function getMember(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
