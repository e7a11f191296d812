import { useCallback } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { usePage } from '../../page/page.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type OwnApplication, readVersion } from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { itemName } from '../entry-parts.ts';

/** Differences between a version and the stored application, by field. */
export function VersionDiff({ stored, version }: { readonly stored: OwnApplication; readonly version: number }) {
  const strings = useBuilderStrings();
  const { service } = usePage();
  const load = useCallback(() => readVersion(service, stored.id, version), [service, stored.id, version]);
  const { value: entry, error } = useLoaded(load);
  if (entry === undefined) return <ErrorMessage error={error} />;
  const changes = diffEntries(entry, stored.entry);
  if (changes.length === 0) return <p className="soft small">{strings.noDifference}</p>;
  return (
    <ul className="version-changes" aria-label={strings.changedSince}>
      {changes.map((change) => (
        <Change key={change.field} change={change} />
      ))}
    </ul>
  );
}

function Change({ change: { field, before = '', after = '' } }: { readonly change: FieldChange }) {
  const strings = useBuilderStrings();
  const lines = before === '' ? added(after) : after === '' ? removed(before) : diffLines(before, after);
  return (
    <li>
      <code>{field.replace(/^applicationProperties\./, '')}</code>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard */}
      <pre className="version-lines" tabIndex={0}>
        {foldLines(lines).map(({ kind, text }, index) => {
          const Mark = marks[kind];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never move
            <Mark key={index} className={kind}>
              {kind === 'left out' ? strings.unchangedLines(Number(text)) : text}
              {'\n'}
            </Mark>
          );
        })}
      </pre>
    </li>
  );
}

const marks = { same: 'span', removed: 'del', added: 'ins', 'left out': 'span' } as const;
/** Number of unchanged lines around a change. */
const context = 2;

interface DisplayedLine {
  readonly kind: DiffLine['kind'] | 'left out';
  /** Number of omitted lines. */
  readonly text: string;
}

/** Omits unchanged lines, except those around a change. */
function foldLines(lines: readonly DiffLine[]): readonly DisplayedLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same'),
  );
  const visibleLines: DisplayedLine[] = [];
  let hidden = 0;
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) hidden += 1;
    if (hidden > 0 && (isNear[index] || index === lines.length - 1)) {
      visibleLines.push({ kind: 'left out', text: String(hidden) });
      hidden = 0;
    }
    if (isNear[index]) visibleLines.push(line);
  }
  return visibleLines;
}

function added(text: string): readonly DiffLine[] {
  return text.split('\n').map((line) => ({ kind: 'added', text: line }));
}

function removed(text: string): readonly DiffLine[] {
  return text.split('\n').map((line) => ({ kind: 'removed', text: line }));
}

/** A changed field with the text of both sides. Undefined if one side lacks the field. */
interface FieldChange {
  /** For example `applicationProperties.web_api_toolset[Shop].authorization`. */
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Compares two versions of an application by field. List items with a name are matched by name, others by position. */
export function diffEntries(before: unknown, after: unknown, path: Path = []): readonly FieldChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return diffParts(toParts(before), toParts(after), path);
  if (Array.isArray(before) && Array.isArray(after) && [...before, ...after].some(isJsonObject)) {
    const isNamed = hasNames(before) && hasNames(after);
    const toItems = (items: readonly unknown[]): Parts =>
      new Map(items.map((item, index) => [isNamed ? itemName(item) : index, item]));
    return diffParts(toItems(before), toItems(after), path);
  }
  return [{ field: formatPath(path), before: toText(before), after: toText(after) }];
}

type Parts = ReadonlyMap<string | number, unknown>;

function toParts(value: object): Parts {
  return new Map(Object.entries(value));
}

function diffParts(before: Parts, after: Parts, path: Path): readonly FieldChange[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].flatMap((key) => diffEntries(before.get(key), after.get(key), [...path, key]));
}

function hasNames(items: readonly unknown[]): boolean {
  const names = items.map(itemName);
  return !names.includes('') && new Set(names).size === names.length;
}

/** Returns texts unchanged, text lists as one line per item, and other values as JSON. */
function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')) return value.join('\n');
  return JSON.stringify(value, undefined, 2);
}

/** A line of a text comparison. */
interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Maximum number of line pairs. Larger texts count as completely changed. */
const maxPairs = 1_000_000;

/** Compares two texts by line. Shared lines keep their order. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const start = countSharedAtStart(old, now);
  const end = countSharedAtEnd(old.slice(start), now.slice(start));
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(old.slice(0, start)),
    ...diffMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

function diffMiddle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const lengths = old.length * now.length > maxPairs ? undefined : sharedLengths(old, now);
  const lines: DiffLine[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < now.length) {
    const [before, after] = [old[at], now[to]];
    if (before !== undefined && before === after && lengths !== undefined) {
      lines.push({ kind: 'same', text: before });
      at += 1;
      to += 1;
    } else if (before !== undefined && (after === undefined || lengthAt(lengths, at + 1, to) >= lengthAt(lengths, at, to + 1))) {
      lines.push({ kind: 'removed', text: before });
      at += 1;
    } else {
      lines.push({ kind: 'added', text: after ?? '' });
      to += 1;
    }
  }
  return lines;
}

type Lengths = readonly Uint32Array[] | undefined;

/** Returns the length of the longest common subsequence for each pair of first lines. */
function sharedLengths(old: readonly string[], now: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let at = old.length - 1; at >= 0; at -= 1) {
    const [row, next] = [lengths[at], lengths[at + 1]];
    if (row === undefined || next === undefined) continue;
    for (let to = now.length - 1; to >= 0; to -= 1) {
      row[to] = old[at] === now[to] ? (next[to + 1] ?? 0) + 1 : Math.max(next[to] ?? 0, row[to + 1] ?? 0);
    }
  }
  return lengths;
}

function lengthAt(lengths: Lengths, at: number, to: number): number {
  return lengths?.[at]?.[to] ?? 0;
}

function countSharedAtStart(old: readonly string[], now: readonly string[]): number {
  const firstDifference = old.findIndex((line, index) => line !== now[index]);
  return firstDifference === -1 ? old.length : firstDifference;
}

function countSharedAtEnd(old: readonly string[], now: readonly string[]): number {
  let count = 0;
  while (count < Math.min(old.length, now.length) && old.at(-1 - count) === now.at(-1 - count)) count += 1;
  return count;
}
