import { isJsonObject, type JsonObject, parsePointer, toObject, toText } from '#base/json/json.ts';
import { capitalize } from '#base/text/sentence.ts';

interface FieldCommon {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
  /** Undefined if there is no initial value. */
  readonly initialValue: unknown;
}

/** A form field for a JSON Schema. `json` is a text area for schemas that no other kind supports. */
export type Field = FieldCommon &
  (
    | {
        readonly kind: 'text';
        readonly isLong: boolean;
        readonly inputType: string;
        /** JSON Schema keywords. '' if not set. */
        readonly format: string;
        readonly pattern: string;
        readonly min?: number;
        readonly max?: number;
      }
    | { readonly kind: 'number'; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
    | { readonly kind: 'switch' }
    | { readonly kind: 'choice' | 'choices'; readonly options: readonly Option[] }
    | { readonly kind: 'group'; readonly fields: readonly Field[] }
    | { readonly kind: 'json' }
  );

/** An option of a choice. */
export interface Option {
  readonly label: string;
  readonly value: unknown;
}

const maxFields = 100;
/** Maximum number of schemas and options of a form. A short schema with references can have billions. */
const maxParts = 5_000;
const maxGroupDepth = 3;
const longTextChars = 120;
const inputTypes: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['time', 'time'],
  ['email', 'email'],
  ['uri', 'url'],
  ['date-time', 'datetime-local'],
  ['password', 'password'],
]);

/** Returns the fields of an object schema, or undefined if a form cannot show it. Never throws, even for an invalid schema. */
export function toFields(source: unknown): readonly Field[] | undefined {
  const document = { root: toObject(source), remainingParts: maxParts };
  const fields = readFields(source, document, 0);
  return document.remainingParts < 0 ? undefined : fields;
}

/** State while the fields of a schema are read. */
interface SchemaDocument {
  /** Schema to which references are relative. */
  readonly root: JsonObject;
  /** Number of schemas and options that can still be read. Negative if there were more. */
  remainingParts: number;
}

function readFields(source: unknown, document: SchemaDocument, depth: number): readonly Field[] | undefined {
  const schema = toPlainSchema(source, document);
  if (depth > maxGroupDepth || !isJsonObject(schema.properties)) return undefined;
  if (schema.type !== undefined && schema.type !== 'object') return undefined;
  if (['$ref', 'oneOf', 'anyOf', 'allOf', 'if'].some((key) => schema[key] !== undefined)) return undefined;
  const entries = Object.entries(schema.properties);
  if (entries.length === 0 || entries.length > maxFields) return undefined;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return entries.map(([name, property]) =>
    toField(name, toPlainSchema(property, document), { isRequired: required.includes(name), document, depth }),
  );
}

interface FieldContext {
  readonly isRequired: boolean;
  readonly document: SchemaDocument;
  readonly depth: number;
}

function toField(name: string, schema: JsonObject, { isRequired, document, depth }: FieldContext): Field {
  const common: FieldCommon = {
    name,
    label: toText(schema.title) || toReadableName(name),
    hint: toText(schema.description),
    isRequired,
    initialValue: schema.const ?? schema.default,
  };
  const options = toOptions(schema, document);
  if (options !== undefined) return { ...common, kind: 'choice', options };
  if (schema.type === 'string') return { ...common, kind: 'text', ...toTextField(schema) };
  if (schema.type === 'number' || schema.type === 'integer') {
    return { ...common, kind: 'number', isInteger: schema.type === 'integer', ...toBounds(schema.minimum, schema.maximum) };
  }
  if (schema.type === 'boolean') return { ...common, kind: 'switch' };
  const itemOptions = schema.type === 'array' ? toOptions(toPlainSchema(schema.items, document), document) : undefined;
  if (itemOptions !== undefined) return { ...common, kind: 'choices', options: itemOptions };
  const fields = schema.type === 'object' ? readFields(schema, document, depth + 1) : undefined;
  return fields === undefined ? { ...common, kind: 'json' } : { ...common, kind: 'group', fields };
}

function toTextField(schema: JsonObject): Omit<Field & { readonly kind: 'text' }, 'kind' | keyof FieldCommon> {
  const limits = toBounds(schema.minLength, schema.maxLength);
  const inputType = inputTypes.get(toText(schema.format)) ?? 'text';
  const isLong = inputType === 'text' && ((limits.max ?? 0) > longTextChars || schema.format === 'textarea');
  return { isLong, inputType, format: toText(schema.format), pattern: toText(schema.pattern), ...limits };
}

/** Returns the options of an `enum`, or of a `oneOf` or `anyOf` that contains only constants and further enums. */
function toOptions(schema: JsonObject, document: SchemaDocument): readonly Option[] | undefined {
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    document.remainingParts -= schema.enum.length;
    if (document.remainingParts < 0) return undefined;
    const names: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return schema.enum.map((value, index) => ({ label: toText(names[index]) || stringify(value), value }));
  }
  const branches = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(branches) || branches.length === 0) return undefined;
  const options = branches.map((branch) => (isJsonObject(branch) ? toBranchOptions(branch, document) : undefined));
  return options.every((option) => option !== undefined) ? options.flat() : undefined;
}

function toBranchOptions(branch: JsonObject, document: SchemaDocument): readonly Option[] | undefined {
  if (!Object.hasOwn(branch, 'const')) return Array.isArray(branch.enum) ? toOptions(branch, document) : undefined;
  return [{ label: toText(branch.title) || stringify(branch.const), value: branch.const }];
}

function toBounds(min: unknown, max: unknown): { min?: number; max?: number } {
  return { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) };
}

function stringify(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Converts `delivery_date`, `delivery-date`, and `deliveryDate` to “Delivery date”. */
export function toReadableName(name: string): string {
  const words = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return words === '' ? name : capitalize(words);
}

const maxReferenceDepth = 5;

/** Resolves local references and an `allOf` with one schema, and removes the alternative `null`. Never throws. */
function toPlainSchema(schema: unknown, document: SchemaDocument, depth = 0): JsonObject {
  document.remainingParts -= 1;
  if (!isJsonObject(schema) || depth > maxReferenceDepth || document.remainingParts < 0) return {};
  const { $ref: reference, allOf, ...siblings } = schema;
  if (typeof reference === 'string')
    return { ...toPlainSchema(resolveReference(document.root, reference), document, depth + 1), ...siblings };
  if (Array.isArray(allOf) && allOf.length === 1) return { ...toPlainSchema(allOf[0], document, depth + 1), ...siblings };
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = schema[key];
    if (!Array.isArray(branches)) continue;
    const { [key]: _, ...otherKeywords } = schema;
    const branchSchemas = branches
      .filter((branch) => !isNull(branch))
      .map((branch) => toPlainSchema(branch, document, depth + 1));
    if (branchSchemas.length === 1 && branches.length > 1) return { ...branchSchemas[0], ...otherKeywords };
    return { ...otherKeywords, [key]: branchSchemas };
  }
  if (!Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== 'null');
  return types.length === 1 ? { ...schema, type: types[0] } : schema;
}

function isNull(schema: unknown): boolean {
  return isJsonObject(schema) && schema.type === 'null';
}

/** Resolves a reference such as `#/$defs/Color`. Returns undefined if the target is missing or in another document. */
function resolveReference(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const getMember = (part: unknown, key: string) => (isJsonObject(part) && Object.hasOwn(part, key) ? part[key] : undefined);
  return parsePointer(reference).reduce<unknown>(getMember, root);
}
