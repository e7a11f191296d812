import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Field } from './field.ts';
import type { FormsWords } from './forms-english.ts';

/** What is written in the fields, by the path of the field's names. */
export type Draft = ReadonlyMap<string, unknown>;
/** What is wrong, by path. */
export type FormFaults = ReadonlyMap<string, string>;

export interface Filled {
  readonly value: Record<string, unknown>;
  readonly faults: FormFaults;
}

export function pathOf(base: string, name: string): string {
  return `${base}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** What stands in the fields where this value was sent. */
export function toDraft(fields: readonly Field[], value: Readonly<Record<string, unknown>>, base = ''): Draft {
  const entries = fields.flatMap((field): (readonly [string, unknown])[] => {
    const given = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    const path = pathOf(base, field.name);
    if (field.kind === 'group') return isJsonObject(given) ? [...toDraft(field.fields, given, path)] : [];
    return [[path, toWritten(field, given)]];
  });
  return new Map(entries);
}

function toWritten(field: Field, given: unknown): unknown {
  if (field.kind === 'json' && given !== undefined) return JSON.stringify(given);
  return field.kind === 'text' && field.format === 'date-time' && typeof given === 'string' ? toLocal(given) : given;
}

/** A moment as a field of the browser takes it, on the clock of the reader. */
function toLocal(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The value that the fields give together, and what keeps it from being sent. Empty fields are left out. */
export function toValue(fields: readonly Field[], draft: Draft, words: FormsWords): Filled {
  const faults = new Map<string, string>();
  return { value: collect(fields, { draft, words, faults, base: '' }), faults };
}

interface Collecting {
  readonly draft: Draft;
  readonly words: FormsWords;
  readonly faults: Map<string, string>;
  readonly base: string;
}

function collect(fields: readonly Field[], collecting: Collecting): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const field of fields) {
    const path = pathOf(collecting.base, field.name);
    const value = field.kind === 'group' ? group(field, { ...collecting, base: path }) : read(field, path, collecting);
    if (value !== undefined) entries.push([field.name, value]);
    else if (field.isRequired && !collecting.faults.has(path)) collecting.faults.set(path, collecting.words.mustBeFilled);
  }
  return Object.fromEntries(entries);
}

function group(field: Field & { readonly kind: 'group' }, collecting: Collecting): unknown {
  const value = collect(field.fields, collecting);
  return Object.keys(value).length === 0 && !field.isRequired ? undefined : value;
}

function read(field: Field, path: string, { draft, words, faults }: Collecting): unknown {
  const written = draft.has(path) ? draft.get(path) : field.start;
  const fault = (text: string): undefined => void faults.set(path, text);
  if (field.kind === 'switch') return written === true || (draft.has(path) || field.isRequired ? false : undefined);
  if (written === undefined || written === '') return undefined;
  if (field.kind === 'number') return readNumber(field, written, { words, fault });
  if (field.kind === 'text') return readText(field, String(written), { words, fault });
  if (field.kind !== 'json' || typeof written !== 'string') return written;
  return tryParseJson(written) ?? fault(words.mustBeJson);
}

interface Judging {
  readonly words: FormsWords;
  readonly fault: (text: string) => undefined;
}

function readText(
  { min = 0, max = Infinity, format, pattern }: Field & { readonly kind: 'text' },
  text: string,
  { words, fault }: Judging,
): string | undefined {
  if (text.length < min) return fault(words.longEnough(min));
  if (text.length > max) return fault(words.shortEnough(max));
  const wrong = formFault(text, format, pattern, words);
  if (wrong !== undefined) return fault(wrong);
  return format === 'date-time' ? new Date(text).toISOString() : text;
}

function readNumber(
  { isWhole, min, max }: Field & { readonly kind: 'number' },
  written: unknown,
  { words, fault }: Judging,
): number | undefined {
  const value = Number(written);
  if (!Number.isFinite(value)) return fault(words.mustBeNumber);
  if (isWhole && !Number.isInteger(value)) return fault(words.mustBeWhole);
  if (min !== undefined && value < min) return fault(words.atLeast(min));
  if (max !== undefined && value > max) return fault(words.atMost(max));
  return value;
}

/** By format of JSON Schema: whether a text has it, and what is said where it has not. */
const formats: Readonly<Record<string, { readonly is: (text: string) => boolean; readonly word: keyof FormsWords }>> = {
  // Pattern bound: the user's own tab: one form field.
  email: { is: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), word: 'mustBeEmail' },
  uri: { is: (text) => URL.canParse(text), word: 'mustBeAddress' },
  date: { is: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)), word: 'mustBeDate' },
  'date-time': { is: (text) => !Number.isNaN(Date.parse(text)), word: 'mustBeDate' },
  time: { is: (text) => /^([01]\d|2[0-3]):[0-5]\d/.test(text), word: 'mustBeTime' },
  uuid: { is: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text), word: 'mustBeFormed' },
  ipv4: { is: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text), word: 'mustBeFormed' },
};

const longestPattern = 300;
/** Groups that are repeated and hold something repeated, or several ways, and references back: these may take for ever. */
// Pattern bound: the user's own tab: one pattern of a form.
const mayTakeLong = /\([^)]*[+*{|][^)]*\)[+*{]|\\[1-9]/;

/** What is wrong with the form of a text; undefined for nothing. Patterns that are none, or could take long, hold nobody up. */
function formFault(text: string, format: string, pattern: string, words: FormsWords): string | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (known !== undefined && !known.is(text)) return String(words[known.word]);
  return pattern !== '' && !fits(text, pattern) ? words.mustBeFormed : undefined;
}

function fits(text: string, pattern: string): boolean {
  if (pattern.length > longestPattern || mayTakeLong.test(pattern)) return true;
  try {
    // Pattern bound: the user's own tab: one form field, with a pattern that passed the test above.
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}
