import { useCallback } from 'react';
import { isJsonObject } from '#base/json/json.ts';
import { formatPath, type Path } from '#contract/configuration/issue.ts';
import { usePage } from '../../page/page.tsx';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { type OwnApplication, readVersion } from '../applications.ts';
import { useBuilderStrings } from '../builder-strings.ts';
import { getItemName } from '../entry-parts.ts';

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
  const lines = before === '' ? toLines('added', after) : after === '' ? toLines('removed', before) : diffLines(before, after);
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
              {kind === 'omitted' ? strings.unchangedLines(Number(text)) : text}
              {'\n'}
            </Mark>
          );
        })}
      </pre>
    </li>
  );
}

const marks = { same: 'span', removed: 'del', added: 'ins', omitted: 'span' } as const;
/** Number of unchanged lines around a change. */
const contextLines = 2;

interface DisplayedLine {
  readonly kind: DiffLine['kind'] | 'omitted';
  /** Text of the line, or the number of omitted lines. */
  readonly text: string;
}

/** Omits unchanged lines, except those around a change. */
function foldLines(lines: readonly DiffLine[]): readonly DisplayedLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ kind }) => kind !== 'same'),
  );
  const visibleLines: DisplayedLine[] = [];
  let hidden = 0;
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) hidden += 1;
    if (hidden > 0 && (isNear[index] || index === lines.length - 1)) {
      visibleLines.push({ kind: 'omitted', text: String(hidden) });
      hidden = 0;
    }
    if (isNear[index]) visibleLines.push(line);
  }
  return visibleLines;
}

function toLines(kind: DiffLine['kind'], text: string): readonly DiffLine[] {
  return text.split('\n').map((line) => ({ kind, text: line }));
}

/** A changed field with its text in both versions. Undefined if a version lacks the field. */
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
      new Map(items.map((item, index) => [isNamed ? getItemName(item) : index, item]));
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
  const names = items.map(getItemName);
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

/** Compares two texts by line, with as many unchanged lines as possible. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  const start = countSharedAtStart(oldLines, newLines);
  const end = countSharedAtEnd(oldLines.slice(start), newLines.slice(start));
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(oldLines.slice(0, start)),
    ...diffMiddle(oldLines.slice(start, oldLines.length - end), newLines.slice(start, newLines.length - end)),
    ...same(oldLines.slice(oldLines.length - end)),
  ];
}

function diffMiddle(oldLines: readonly string[], newLines: readonly string[]): DiffLine[] {
  const lengths = oldLines.length * newLines.length > maxPairs ? undefined : sharedLengths(oldLines, newLines);
  const lines: DiffLine[] = [];
  let [oldIndex, newIndex] = [0, 0];
  while (oldIndex < oldLines.length || newIndex < newLines.length) {
    const [before, after] = [oldLines[oldIndex], newLines[newIndex]];
    if (before !== undefined && before === after && lengths !== undefined) {
      lines.push({ kind: 'same', text: before });
      oldIndex += 1;
      newIndex += 1;
    } else if (
      before !== undefined &&
      (after === undefined || lengthAt(lengths, oldIndex + 1, newIndex) >= lengthAt(lengths, oldIndex, newIndex + 1))
    ) {
      lines.push({ kind: 'removed', text: before });
      oldIndex += 1;
    } else {
      lines.push({ kind: 'added', text: after ?? '' });
      newIndex += 1;
    }
  }
  return lines;
}

type Lengths = readonly Uint32Array[] | undefined;

/** Returns the length of the longest common subsequence for each pair of first lines. */
function sharedLengths(oldLines: readonly string[], newLines: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: oldLines.length + 1 }, () => new Uint32Array(newLines.length + 1));
  for (let oldIndex = oldLines.length - 1; oldIndex >= 0; oldIndex -= 1) {
    const [row, next] = [lengths[oldIndex], lengths[oldIndex + 1]];
    if (row === undefined || next === undefined) continue;
    for (let newIndex = newLines.length - 1; newIndex >= 0; newIndex -= 1) {
      row[newIndex] =
        oldLines[oldIndex] === newLines[newIndex]
          ? (next[newIndex + 1] ?? 0) + 1
          : Math.max(next[newIndex] ?? 0, row[newIndex + 1] ?? 0);
    }
  }
  return lengths;
}

function lengthAt(lengths: Lengths, oldIndex: number, newIndex: number): number {
  return lengths?.[oldIndex]?.[newIndex] ?? 0;
}

function countSharedAtStart(oldLines: readonly string[], newLines: readonly string[]): number {
  const firstDifference = oldLines.findIndex((line, index) => line !== newLines[index]);
  return firstDifference === -1 ? oldLines.length : firstDifference;
}

function countSharedAtEnd(oldLines: readonly string[], newLines: readonly string[]): number {
  let count = 0;
  while (count < Math.min(oldLines.length, newLines.length) && oldLines.at(-1 - count) === newLines.at(-1 - count)) count += 1;
  return count;
}
