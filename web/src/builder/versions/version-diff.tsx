import { memo, useCallback } from 'react';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { useFormsStrings } from '../../forms/forms-strings.ts';
import { ErrorMessage } from '../../parts/error-message.tsx';
import { useLoaded } from '../../parts/use-loaded.ts';
import { getFileName } from '../../service/service-path.ts';
import { useGetName } from '../../shell/page.tsx';
import { useLanguage } from '../../strings/strings.tsx';
import { useBuilderStrings, useSchemaTranslation } from '../builder-strings.ts';
import { getTitle } from '../editors/properties.tsx';
import { getPartSchema, resolveShape, type Shape, toShape } from '../editors/shape.ts';
import { getItemName } from '../entry-parts.ts';

/** A version with its displayed name. */
export interface NamedVersion {
  readonly version: number;
  readonly name: string;
}

interface VersionDiffProps {
  /** Loads a version. */
  readonly readEntry: (version: number) => Promise<JsonObject>;
  /** Schema of a complete application. */
  readonly schema: JsonObject;
  /** The older version. */
  readonly before: NamedVersion;
  readonly after: NamedVersion;
}

/** Settings that differ between two versions, with both values. Memoized, so that changes in the form do not recompute it. */
export const VersionDiff = memo(function VersionDiff({ readEntry, schema, before, after }: VersionDiffProps) {
  const strings = useBuilderStrings();
  const { toTitle, toText } = useSettingTexts();
  const [oldNumber, newNumber] = [before.version, after.version];
  const load = useCallback(() => Promise.all([readEntry(oldNumber), readEntry(newNumber)]), [readEntry, oldNumber, newNumber]);
  const { value: [oldEntry = {}, newEntry = {}] = [], error, isLoading } = useLoaded(load);
  const changes = listChanges(oldEntry, newEntry, { schema, name: '', labels: [] }, toTitle)
    .map((change) => ({
      ...change,
      label: change.labels.join(' › '),
      oldText: toText(change.before, change),
      newText: toText(change.after, change),
    }))
    .filter(({ oldText, newText }) => oldText !== newText);
  return (
    <div className="version-changes" aria-busy={isLoading}>
      <ErrorMessage error={error} />
      <p className="soft small" role="status">
        {!isLoading && error === undefined && strings.changedCount(changes.length)}
      </p>
      <ul className="version-changes" aria-label={strings.changedSettings}>
        {changes.map(({ label, oldText, newText }) => (
          <li key={label}>
            <p className="version-setting">{label}</p>
            <div className="version-sides">
              <Value {...{ label, version: before, text: oldText, otherText: newText }} mark="del" />
              <Value {...{ label, version: after, text: newText, otherText: oldText }} mark="ins" />
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
});

interface ValueProps {
  readonly label: string;
  readonly version: NamedVersion;
  readonly text: string;
  /** Text of the setting in the other version. */
  readonly otherText: string;
  readonly mark: 'del' | 'ins';
}

/** The value of a setting in one version. Marks lines that the other version lacks. */
function Value({ label, version, text, otherText, mark: Mark }: ValueProps) {
  const strings = useBuilderStrings();
  return (
    <div>
      <p className="soft small">{version.name}</p>
      {text === '' && <p className="version-lines soft">{strings.notSet}</p>}
      {text.startsWith('data:image/') && <img className="avatar large" src={text} alt={label} />}
      {text !== '' && !text.startsWith('data:image/') && (
        <pre className="version-lines">
          {compareLines(text, otherText).map((line, index) => {
            const Line = line.kind === 'changed' ? Mark : 'span';
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never move
              <Line key={index} className={line.kind}>
                {line.kind === 'omitted' ? strings.unchangedLines(line.count) : line.text}
                {'\n'}
              </Line>
            );
          })}
        </pre>
      )}
    </div>
  );
}

/** Returns the title of a property in the form. */
type ToTitle = (schema: JsonObject, name: string) => string;

/** A part of an application. */
interface Setting {
  readonly schema: JsonObject;
  /** Name of the property. Items of a list have the name of the list. */
  readonly name: string;
  /** Labels of the setting and of the lists, items, variants, and added or removed groups around it, as in the form. */
  readonly labels: readonly string[];
}

/** A setting with its values in both versions. A value is undefined if its version lacks the setting. */
interface SettingChange extends Setting {
  readonly before: unknown;
  readonly after: unknown;
}

/** Compares two versions by setting, in the order of the form. List items match by unique names, or else by position. */
export function listChanges(before: unknown, after: unknown, setting: Setting, toTitle: ToTitle): readonly SettingChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const { shape, variantHint } = resolveShape(setting.schema, after);
  const isSameVariant = variantHint === resolveShape(setting.schema, before).variantHint;
  const compareParts = (oldParts: Parts, newParts: Parts, toPartSetting: (key: string) => Setting): readonly SettingChange[] => {
    const order = shape.kind === 'group' ? shape.properties.map(({ name }) => name) : [];
    const keys = new Set([...order, ...oldParts.keys(), ...newParts.keys()]);
    return [...keys].flatMap((key) => listChanges(oldParts.get(key), newParts.get(key), toPartSetting(key), toTitle));
  };
  if (isJsonObject(before) && isJsonObject(after) && isSameVariant) {
    const [oldParts, newParts] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    return compareParts(oldParts, newParts, (key) => {
      const schema = getPartSchema(shape, key);
      const isSplit = toShape(schema).kind === 'group' && isJsonObject(oldParts.get(key)) && isJsonObject(newParts.get(key));
      // A group that both versions have is compared setting by setting, so its own label is omitted.
      return { schema, name: key, labels: isSplit ? setting.labels : [...setting.labels, toTitle(schema, key)] };
    });
  }
  if (Array.isArray(before) && Array.isArray(after) && [...before, ...after].some(isJsonObject)) {
    const isNamed = hasNames(before) && hasNames(after);
    const toParts = (items: readonly unknown[]): Parts =>
      new Map(items.map((item, index) => [isNamed ? getItemName(item) : String(index + 1), item]));
    const schema = getPartSchema(shape, '');
    return compareParts(toParts(before), toParts(after), (key) => ({ ...setting, schema, labels: [...setting.labels, key] }));
  }
  return [{ ...setting, before, after }];
}

type Parts = ReadonlyMap<string, unknown>;

function hasNames(items: readonly unknown[]): boolean {
  const names = items.map(getItemName);
  return !names.includes('') && new Set(names).size === names.length;
}

/** Returns functions that describe settings and their values as the form does. */
function useSettingTexts() {
  const { yes, no } = useFormsStrings();
  const { locale } = useLanguage();
  const translate = useSchemaTranslation();
  const getName = useGetName();
  const nameFormats: ReadonlyMap<string, (id: string) => string> = new Map([
    ['model', getName],
    ['applications_as_tools', getName],
    ['document_relative_url', getFileName],
  ]);
  const toTitle: ToTitle = (schema, name) => translate(getTitle(schema, name));
  const formatScalar = (value: unknown, shape: Shape, name: string): string => {
    if (typeof value === 'boolean') return value ? yes : no;
    if (typeof value === 'number') return value.toLocaleString(locale, { maximumFractionDigits: 20 });
    if (typeof value !== 'string') return String(value);
    if (shape.kind === 'choice') return translate(value);
    return nameFormats.get(name)?.(value) ?? value;
  };
  /** Returns the value with a line for each part, or '' if it is not set. */
  const toText = (value: unknown, { schema, name }: Pick<Setting, 'schema' | 'name'>): string => {
    if (value === undefined || value === null) return '';
    const { shape, variantHint } = resolveShape(schema, value);
    if (Array.isArray(value)) {
      const items = value.map((item) => toText(item, { schema: getPartSchema(shape, ''), name }));
      return items.join(value.some(isJsonObject) ? '\n\n' : '\n');
    }
    if (!isJsonObject(value)) return formatScalar(value, shape, name);
    const lines = Object.entries(value).map(([key, part]) => {
      const partSchema = getPartSchema(shape, key);
      const text = toShape(partSchema).kind === 'fixed' ? '' : toText(part, { schema: partSchema, name: key });
      return text && `${toTitle(partSchema, key)}:${text.includes('\n') ? `\n${text.replace(/^/gm, '  ')}` : ` ${text}`}`;
    });
    return [translate(variantHint), ...lines].filter(Boolean).join('\n');
  };
  return { toTitle, toText };
}

/** Number of unchanged lines that are shown around a change. */
const contextLines = 2;

type ComparedLine =
  | { readonly kind: 'same' | 'changed'; readonly text: string }
  | { readonly kind: 'omitted'; readonly count: number };

/**
 * Returns the lines of a text, and marks those that the other text lacks. Omits unchanged lines, except those around a change. If
 * the lines differ only in their order, marks all lines from the first to the last difference.
 */
export function compareLines(text: string, otherText: string): readonly ComparedLine[] {
  const [lines, otherLines] = [text.split('\n'), otherText.split('\n')];
  const start = countShared(lines, otherLines);
  const sharedAtEnd = countShared(lines.slice(start).reverse(), otherLines.slice(start).reverse());
  const end = lines.length - sharedAtEnd;
  const changedLines = new Set(lines.slice(start, end));
  const otherChangedLines = new Set(otherLines.slice(start, otherLines.length - sharedAtEnd));
  const isReordered =
    changedLines.size === otherChangedLines.size && [...changedLines].every((line) => otherChangedLines.has(line));
  const isChanged = lines.map((line, index) => index >= start && index < end && (isReordered || !otherChangedLines.has(line)));
  const isNear = lines.map((_, index) => {
    const isNearEdge = Math.abs(index - start) <= contextLines || Math.abs(index - end) <= contextLines;
    return isNearEdge || isChanged.slice(Math.max(0, index - contextLines), index + contextLines + 1).includes(true);
  });
  return lines.flatMap((line, index): ComparedLine[] => {
    if (isNear[index]) return [{ kind: isChanged[index] ? 'changed' : 'same', text: line }];
    if (index > 0 && !isNear[index - 1]) return [];
    const next = isNear.indexOf(true, index);
    return [{ kind: 'omitted', count: (next === -1 ? lines.length : next) - index }];
  });
}

/** Returns the number of equal items at the start of both lists. */
function countShared(lines: readonly string[], otherLines: readonly string[]): number {
  const firstDifference = lines.findIndex((line, index) => line !== otherLines[index]);
  return firstDifference === -1 ? lines.length : firstDifference;
}
