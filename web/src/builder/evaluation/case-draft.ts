import { filterObjects, isJsonObject, type JsonObject, toText, tryParseJson } from '#base/json/json.ts';

/** Input type of a check field. */
export type FieldKind = 'line' | 'text' | 'code' | 'flag' | 'number' | 'object' | 'deployment';

/** The check types in display order, with their fields. */
const checkFields = {
  contains: { text: 'text', ignoreCase: 'flag' },
  equals: { text: 'text' },
  matches: { pattern: 'code' },
  calls: { tool: 'line', arguments: 'object' },
  does_not_call: { tool: 'line' },
  judged: { deployment: 'deployment', rubric: 'text' },
  json_schema: { schema: 'object' },
  cost_at_most: { usd: 'number' },
  time_at_most: { seconds: 'number' },
} as const satisfies Record<string, Record<string, FieldKind>>;
export type CheckType = keyof typeof checkFields;

export const checkTypes = Object.keys(checkFields) as CheckType[];

/** Lists the fields of a check in display order. */
export function listFields(type: CheckType): readonly (readonly [name: string, kind: FieldKind])[] {
  return Object.entries(checkFields[type]);
}

/** A check in the form. Each value is the text of a field. A flag is 'true' or ''. */
export interface CheckDraft {
  readonly type: CheckType;
  readonly values: Readonly<Record<string, string>>;
}

/** A case in the form. */
export interface CaseDraft {
  readonly name: string;
  /** User message. Undefined if the case is a conversation in `messages`. */
  readonly question: string | undefined;
  readonly messages: readonly unknown[];
  readonly checks: readonly CheckDraft[];
}

/** An error in a field of a draft. `check` is the index of the check, or null for a field of the case itself. */
export interface DraftError {
  readonly check: number | null;
  readonly field: string;
  readonly kind: 'missing' | 'notNumber' | 'notObject';
}

/** Converts a case to a draft for the form. */
export function toDraft({ name, input, checks }: JsonObject): CaseDraft {
  const checkItems = filterObjects(checks);
  return {
    name: toText(name),
    question: Array.isArray(input) ? undefined : toText(input),
    messages: Array.isArray(input) ? input : [],
    checks: checkItems.flatMap((check) => (isCheckType(check.type) ? [toCheckDraft(check.type, check)] : [])),
  };
}

/** Returns whether a draft preserves the complete case. */
export function isDraftable({ name, input, checks = [], ...otherFields }: JsonObject): boolean {
  const isKnown = (check: unknown): boolean =>
    isJsonObject(check) &&
    isCheckType(check.type) &&
    Object.keys(check).every((key) => key === 'type' || Object.hasOwn(checkFields[check.type as CheckType], key));
  return Object.keys(otherFields).length === 0 && Array.isArray(checks) && checks.every(isKnown);
}

/** Converts a draft to a case, or returns its errors. */
export function toCaseEntry({ name, question, messages, checks }: CaseDraft): { entry: JsonObject } | { errors: DraftError[] } {
  const errors: DraftError[] = [];
  if (question?.trim() === '') errors.push({ check: null, field: 'input', kind: 'missing' });
  const checkEntries = checks.map(({ type, values }, index) => {
    const fields = listFields(type).map(([field, kind]) => {
      const result = parseField(kind, { text: values[field] ?? '', isOptional: isOptional(type, field) });
      if ('error' in result) errors.push({ check: index, field, kind: result.error });
      return [field, 'value' in result ? result.value : undefined] as const;
    });
    return { type, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
  });
  if (errors.length > 0) return { errors };
  return { entry: { ...(name.trim() !== '' && { name: name.trim() }), input: question ?? messages, checks: checkEntries } };
}

function isCheckType(type: unknown): type is CheckType {
  return typeof type === 'string' && Object.hasOwn(checkFields, type);
}

/** Returns whether an empty text is valid, as in a comparison with an empty answer. */
function isOptional(type: CheckType, field: string): boolean {
  return field === 'arguments' || (type === 'equals' && field === 'text');
}

function toCheckDraft(type: CheckType, check: JsonObject): CheckDraft {
  const values = listFields(type).map(([field, kind]) => [field, toFieldText(kind, check[field])]);
  return { type, values: Object.fromEntries(values) };
}

function toFieldText(kind: FieldKind, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'object') return JSON.stringify(value, undefined, 2);
  if (kind === 'flag') return value === true ? 'true' : '';
  return String(value);
}

type FieldResult = { readonly value: unknown } | { readonly error: DraftError['kind'] };

function parseField(kind: FieldKind, { text, isOptional }: { readonly text: string; readonly isOptional: boolean }): FieldResult {
  if (kind === 'flag') return { value: text === 'true' || undefined };
  if (text.trim() === '') return isOptional ? { value: kind === 'text' ? text : undefined } : { error: 'missing' };
  if (kind === 'number') return parseNumber(text);
  return kind === 'object' ? parseObject(text) : { value: text };
}

/** Parses a number that is not negative. Accepts a comma as the decimal separator, which many languages use. */
function parseNumber(text: string): FieldResult {
  const value = Number(text.trim().replace(',', '.'));
  return Number.isFinite(value) && value >= 0 ? { value } : { error: 'notNumber' };
}

function parseObject(text: string): FieldResult {
  const value = tryParseJson(text);
  return isJsonObject(value) ? { value } : { error: 'notObject' };
}
