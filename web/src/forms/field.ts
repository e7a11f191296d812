import { isJsonObject, type JsonObject } from '#base/json.ts';

interface FieldCommon {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
  /** What it begins with; undefined for nothing. */
  readonly start: unknown;
}

/** One field of a form, as a JSON Schema asks for it. `json`: what no other kind fits. */
export type Field = FieldCommon &
  (
    | {
        readonly kind: 'text';
        readonly isLong: boolean;
        readonly inputType: string;
        readonly min?: number;
        readonly max?: number;
      }
    | { readonly kind: 'number'; readonly isWhole: boolean; readonly min?: number; readonly max?: number }
    | { readonly kind: 'switch' }
    | { readonly kind: 'choice' | 'choices'; readonly options: readonly Option[] }
    | { readonly kind: 'group'; readonly fields: readonly Field[] }
    | { readonly kind: 'json' }
  );

export interface Option {
  readonly label: string;
  readonly value: unknown;
}

const mostFields = 100;
const deepestGroup = 3;
const longTextChars = 120;
const inputTypes: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  email: 'email',
  uri: 'url',
  password: 'password',
};

/** The fields of an object's schema; undefined where it cannot be drawn as a form. Never throws, whatever the schema is. */
export function toFields(schema: unknown, depth = 0): readonly Field[] | undefined {
  if (!isJsonObject(schema) || depth > deepestGroup || !isJsonObject(schema.properties)) return undefined;
  if (schema.type !== undefined && schema.type !== 'object') return undefined;
  if (['$ref', 'oneOf', 'anyOf', 'allOf', 'if'].some((key) => schema[key] !== undefined)) return undefined;
  const entries = Object.entries(schema.properties);
  if (entries.length === 0 || entries.length > mostFields) return undefined;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return entries.map(([name, part]) =>
    toField(name, isJsonObject(part) ? part : {}, { isRequired: required.includes(name), depth }),
  );
}

function toField(name: string, schema: JsonObject, { isRequired, depth }: { isRequired: boolean; depth: number }): Field {
  const common: FieldCommon = {
    name,
    label: textOf(schema.title) || toLabel(name),
    hint: textOf(schema.description),
    isRequired,
    start: schema.const ?? schema.default,
  };
  const options = toOptions(schema);
  if (options !== undefined) return { ...common, kind: 'choice', options };
  if (schema.type === 'string') return { ...common, kind: 'text', ...toText(schema) };
  if (schema.type === 'number' || schema.type === 'integer') {
    return { ...common, kind: 'number', isWhole: schema.type === 'integer', ...bounds(schema.minimum, schema.maximum) };
  }
  if (schema.type === 'boolean') return { ...common, kind: 'switch' };
  const several = schema.type === 'array' && isJsonObject(schema.items) ? toOptions(schema.items) : undefined;
  if (several !== undefined) return { ...common, kind: 'choices', options: several };
  const fields = schema.type === 'object' ? toFields(schema, depth + 1) : undefined;
  return fields === undefined ? { ...common, kind: 'json' } : { ...common, kind: 'group', fields };
}

function toText(schema: JsonObject): { isLong: boolean; inputType: string; min?: number; max?: number } {
  const limits = bounds(schema.minLength, schema.maxLength);
  const inputType = inputTypes[textOf(schema.format)] ?? 'text';
  const isLong = inputType === 'text' && ((limits.max ?? 0) > longTextChars || schema.format === 'textarea');
  return { isLong, inputType, ...limits };
}

/** Of `enum`, and of `oneOf` or `anyOf` with nothing but constants. */
function toOptions(schema: JsonObject): readonly Option[] | undefined {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum.map((value) => ({ label: shown(value), value }));
  const branches = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(branches) || branches.length === 0) return undefined;
  if (!branches.every((branch) => isJsonObject(branch) && Object.hasOwn(branch, 'const'))) return undefined;
  return branches.map((branch: JsonObject) => ({ label: textOf(branch.title) || shown(branch.const), value: branch.const }));
}

function bounds(min: unknown, max: unknown): { min?: number; max?: number } {
  return { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `delivery_date` and `deliveryDate` read as “Delivery date”. */
function toLabel(name: string): string {
  const words = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? name : `${words[0]?.toUpperCase()}${words.slice(1)}`;
}
