import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { FormsStrings } from '../locales/en/forms.ts';
import type { Field } from './field.ts';

/** Entered values, by the path of their field. */
export type Draft = ReadonlyMap<string, unknown>;
/** Error messages by path. */
export type FormErrors = ReadonlyMap<string, string>;

/** Value of a form, and its errors by path. The value is valid if there are no errors. */
export interface FormResult {
  readonly value: Record<string, unknown>;
  readonly errors: FormErrors;
}

/** Appends a field name to a path, as in a JSON pointer (RFC 6901). */
export function joinPath(base: string, name: string): string {
  return `${base}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the entered values of a form that was submitted with this value. */
export function toDraft(fields: readonly Field[], value: Readonly<Record<string, unknown>>, base = ''): Draft {
  const entries = fields.flatMap((field): (readonly [string, unknown])[] => {
    const fieldValue = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    const path = joinPath(base, field.name);
    if (field.kind === 'group') return isJsonObject(fieldValue) ? [...toDraft(field.fields, fieldValue, path)] : [];
    return [[path, toDraftValue(field, fieldValue)]];
  });
  return new Map(entries);
}

function toDraftValue(field: Field, value: unknown): unknown {
  if (field.kind === 'json' && value !== undefined) return JSON.stringify(value);
  return field.kind === 'text' && field.format === 'date-time' && typeof value === 'string' ? toLocalInput(value) : value;
}

/** Converts a timestamp to local time in the format of a `datetime-local` input. Returns '' for an invalid one. */
export function toLocalInput(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the value of all fields except empty ones, and the errors. */
export function toValue(fields: readonly Field[], draft: Draft, strings: FormsStrings): FormResult {
  const errors = new Map<string, string>();
  return { value: collect(fields, { draft, strings, errors, base: '' }), errors };
}

interface CollectContext {
  readonly draft: Draft;
  readonly strings: FormsStrings;
  readonly errors: Map<string, string>;
  readonly base: string;
}

function collect(fields: readonly Field[], context: CollectContext): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    const path = joinPath(context.base, field.name);
    const value = field.kind === 'group' ? collectGroup(field, { ...context, base: path }) : readField(field, path, context);
    if (value !== undefined) entries.push([field.name, value]);
    else if (field.isRequired && !context.errors.has(path)) context.errors.set(path, context.strings.mustBeFilled);
  }
  return Object.fromEntries(entries);
}

function collectGroup(field: Field & { readonly kind: 'group' }, context: CollectContext): unknown {
  const value = collect(field.fields, context);
  return Object.keys(value).length === 0 && !field.isRequired ? undefined : value;
}

function readField(field: Field, path: string, { draft, strings, errors }: CollectContext): unknown {
  const input = draft.has(path) ? draft.get(path) : field.initialValue;
  const addError = (text: string): undefined => void errors.set(path, text);
  if (field.kind === 'switch') return input === true || (draft.has(path) || field.isRequired ? false : undefined);
  if (input === undefined || input === '') return undefined;
  if (field.kind === 'number') return readNumber(field, input, { strings, addError });
  if (field.kind === 'text') return readText(field, String(input), { strings, addError });
  if (field.kind !== 'json' || typeof input !== 'string') return input;
  const value = tryParseJson(input);
  return value === undefined ? addError(strings.mustBeJson) : value;
}

interface ReadContext {
  readonly strings: FormsStrings;
  readonly addError: (text: string) => undefined;
}

function readText(
  { min = 0, max = Infinity, format, pattern }: Field & { readonly kind: 'text' },
  text: string,
  { strings, addError }: ReadContext,
): string | undefined {
  if (text.length < min) return addError(strings.minLength(min));
  if (text.length > max) return addError(strings.maxLength(max));
  const message = findFormatError(text, format, pattern, strings);
  if (message !== undefined) return addError(message);
  return format === 'date-time' ? new Date(text).toISOString() : text;
}

function readNumber(
  { isInteger, min, max }: Field & { readonly kind: 'number' },
  input: unknown,
  { strings, addError }: ReadContext,
): number | undefined {
  const value = Number(input);
  if (!Number.isFinite(value)) return addError(strings.mustBeNumber);
  if (isInteger && !Number.isInteger(value)) return addError(strings.mustBeWhole);
  if (min !== undefined && value < min) return addError(strings.atLeast(min));
  if (max !== undefined && value > max) return addError(strings.atMost(max));
  return value;
}

/** Format checks of JSON Schema, and the error message of each. */
const formats: Readonly<Record<string, { readonly isValid: (text: string) => boolean; readonly errorKey: keyof FormsStrings }>> =
  {
    // Pattern bound: the length of an address (RFC 3696).
    email: { isValid: (text) => text.length <= 320 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), errorKey: 'mustBeEmail' },
    uri: { isValid: (text) => URL.canParse(text), errorKey: 'mustBeAddress' },
    date: { isValid: isDate, errorKey: 'mustBeDate' },
    'date-time': { isValid: (text) => !Number.isNaN(Date.parse(text)), errorKey: 'mustBeDate' },
    time: { isValid: (text) => /^([01]\d|2[0-3]):[0-5]\d/.test(text), errorKey: 'mustBeTime' },
    uuid: { isValid: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text), errorKey: 'invalidFormat' },
    ipv4: { isValid: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text), errorKey: 'invalidFormat' },
  };

/** Returns whether a text is a day of the calendar. `Date.parse` accepts February 31 as a day in March. */
function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
}

const maxPatternChars = 300;
/** Longer texts are not matched, because the time of a pattern grows with a power of the length. */
const maxMatchedChars = 200;
/** Each choice of a pattern, such as a repetition, multiplies its time. */
const maxPatternChoices = 3;
/** Repeated groups and backreferences, which can take exponential time. */
const slowPattern = /\)[+*?{]|\\[1-9k]/;
const patternChoices = /[+*?|]|\{\d*,/g;

/** Returns the error message for a text, or undefined. Ignores invalid patterns, and patterns that could take too long. */
function findFormatError(text: string, format: string, pattern: string, strings: FormsStrings): string | undefined {
  const rule = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (rule !== undefined && !rule.isValid(text)) return String(strings[rule.errorKey]);
  return pattern !== '' && !matchesPattern(text, pattern) ? strings.invalidFormat : undefined;
}

function matchesPattern(text: string, pattern: string): boolean {
  if (pattern.length > maxPatternChars || text.length > maxMatchedChars || slowPattern.test(pattern)) return true;
  if ((pattern.match(patternChoices)?.length ?? 0) > maxPatternChoices) return true;
  try {
    // Pattern bound: runs in the user's own tab, on at most `maxMatchedChars` characters with at most `maxPatternChoices` choices.
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}
