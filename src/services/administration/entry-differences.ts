import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { entryKinds } from '#contract/administration/entry-kinds.ts';
import { maskEntrySecrets } from '#contract/administration/entry-secrets.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { isContainer } from '#contract/quick-app/secrets.ts';
import type { EntryWrite } from '#domain/administration/entry-store.ts';

/** A value that a change adds, replaces, or removes. Secrets are masked. */
export interface Difference {
  /** Path in the configuration, such as `models.gpt.upstreams[0].endpoint`. */
  readonly path: string;
  /** Absent if the change adds the value. */
  readonly before?: unknown;
  /** Absent if the change removes the value. */
  readonly after?: unknown;
}

/** Returns the differences of a write, one for each path. A changed secret is listed with masked values. */
export function listDifferences({ kind, id, before, after }: EntryWrite): readonly Difference[] {
  const root: Path = [entryKinds[kind].section, id];
  const toSides = (value: JsonObject | undefined): Side => ({ value, masked: value && maskEntrySecrets(kind, value) });
  return [...compare(root, toSides(before?.value), toSides(after?.value))];
}

/** A value, and the same value with masked secrets. */
interface Side {
  readonly value: unknown;
  readonly masked: unknown;
}

function* compare(path: Path, before: Side, after: Side): Iterable<Difference> {
  if (isDeepStrictEqual(before.value, after.value)) return;
  const keys = toKeys(before.value, after.value);
  if (keys === undefined || before.masked === undefined || !isContainer(before.masked) || !isContainer(after.masked)) {
    yield {
      path: formatPath(path),
      ...(before.value !== undefined && { before: before.masked }),
      ...(after.value !== undefined && { after: after.masked }),
    };
    return;
  }
  for (const key of keys) yield* compare([...path, key], getMember(before, key), getMember(after, key));
}

/** Returns the keys of two objects or two lists, or undefined for other values. */
function toKeys(before: unknown, after: unknown): readonly (string | number)[] | undefined {
  if (isJsonObject(before) && isJsonObject(after)) return [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (Array.isArray(before) && Array.isArray(after)) return [...Array(Math.max(before.length, after.length)).keys()];
}

function getMember({ value, masked }: Side, key: string | number): Side {
  const member = (container: unknown): unknown =>
    isContainer(container) && Object.hasOwn(container, key) ? container[key] : undefined;
  return { value: member(value), masked: member(masked) };
}
