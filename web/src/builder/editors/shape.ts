import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** One of several forms that a value may have. */
export interface Variant {
  readonly schema: JsonObject;
  /** What tells it from the others: the constants of its keys. */
  readonly marks: JsonObject;
  readonly hint: string;
}

export interface Property {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** How the value of a JSON Schema is edited. `json`: as text, for what nothing else fits. */
export type Shape =
  | { readonly kind: 'text'; readonly isSecret: boolean }
  | { readonly kind: 'number'; readonly isWhole: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'fixed'; readonly value: unknown }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'list'; readonly item: JsonObject }
  | { readonly kind: 'group'; readonly properties: readonly Property[] }
  | { readonly kind: 'variants'; readonly variants: readonly Variant[]; readonly mayBeNone: boolean }
  | { readonly kind: 'json' };

/** Never throws, whatever the schema is. */
export function toShape(schema: JsonObject): Shape {
  if (Object.hasOwn(schema, 'const')) return { kind: 'fixed', value: schema.const };
  if (Array.isArray(schema.enum) && schema.enum.every((each) => typeof each === 'string')) {
    return { kind: 'choice', options: schema.enum };
  }
  if (Array.isArray(schema.anyOf)) return toVariants(schema.anyOf);
  switch (schema.type) {
    case 'string':
      return { kind: 'text', isSecret: schema.writeOnly === true || schema.format === 'password' };
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        isWhole: schema.type === 'integer',
        ...bound('min', schema.minimum),
        ...bound('max', schema.maximum),
      };
    case 'boolean':
      return { kind: 'switch' };
    case 'array':
      return isJsonObject(schema.items) ? { kind: 'list', item: schema.items } : { kind: 'json' };
    case 'object':
      return toGroup(schema);
    default:
      return { kind: 'json' };
  }
}

/** Only what takes no further keys is drawn: in a group they could not be seen. */
function toGroup(schema: JsonObject): Shape {
  if (!isJsonObject(schema.properties) || schema.additionalProperties !== false) return { kind: 'json' };
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(schema.properties).map(([name, part]) => ({
    name,
    schema: isJsonObject(part) ? part : {},
    isRequired: required.includes(name),
  }));
  return { kind: 'group', properties: properties.sort((one, other) => orderOf(one) - orderOf(other)) };
}

function orderOf({ schema }: Property): number {
  return typeof schema['x-order'] === 'number' ? schema['x-order'] : Number.MAX_SAFE_INTEGER;
}

function toVariants(branches: readonly unknown[]): Shape {
  const forms = branches.filter(isJsonObject);
  const some = forms.filter(({ type }) => type !== 'null');
  const [only] = some;
  const mayBeNone = some.length < forms.length;
  if (only !== undefined && some.length === 1 && toShape(only).kind !== 'group') return toShape(only);
  if (!some.every((form) => toShape(form).kind === 'group')) return { kind: 'json' };
  return { kind: 'variants', mayBeNone, variants: some.map(toVariant) };
}

function toVariant(schema: JsonObject): Variant {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const marks = properties.flatMap(([key, part]) =>
    isJsonObject(part) && Object.hasOwn(part, 'const') ? [[key, part.const]] : [],
  );
  return { schema, marks: Object.fromEntries(marks), hint: textOf(schema.description) };
}

/** Which form a value has; undefined for what has none. */
export function variantOf(variants: readonly Variant[], value: unknown): Variant | undefined {
  if (!isJsonObject(value)) return undefined;
  const isOf = ({ schema, marks }: Variant): boolean => {
    const required = Array.isArray(schema.required) ? schema.required : [];
    const isMarked = Object.entries(marks).every(([key, mark]) => value[key] === mark);
    return isMarked && (Object.keys(marks).length > 0 || required.every((key) => Object.hasOwn(value, String(key))));
  };
  return variants.find(isOf);
}

/** What a value begins with: everything that is needed, empty but for examples. */
export function startOf(schema: JsonObject): unknown {
  if (Object.hasOwn(schema, 'default')) return schema.default;
  const shape = toShape(schema);
  switch (shape.kind) {
    case 'fixed':
      return shape.value;
    case 'choice':
      return shape.options[0];
    case 'number':
      return shape.min ?? 0;
    case 'switch':
      return false;
    case 'list':
      return [];
    case 'text':
      return Array.isArray(schema.examples) ? schema.examples[0] : '';
    case 'group':
      return Object.fromEntries(
        shape.properties.filter(({ isRequired }) => isRequired).map(({ name, schema: part }) => [name, startOf(part)]),
      );
    case 'variants':
      return shape.mayBeNone || shape.variants[0] === undefined ? null : startOf(shape.variants[0].schema);
    case 'json':
      return schema.type === 'object' ? {} : null;
  }
}

/** What an item of a list begins with: of several forms the first. */
export function firstOf(item: JsonObject): unknown {
  const shape = toShape(item);
  return shape.kind === 'variants' && shape.variants[0] !== undefined ? startOf(shape.variants[0].schema) : startOf(item);
}

/** Stands for a secret that is stored and not shown. */
export const hiddenSecret = '***';

/** The value with every secret emptied that `isGone` names, as the schema knows them. */
export function emptySecrets(schema: JsonObject, value: unknown, isGone: (secret: string) => boolean): unknown {
  const shape = toShape(schema);
  if (shape.kind === 'text' && shape.isSecret) return typeof value === 'string' && isGone(value) ? '' : value;
  if (shape.kind === 'list' && Array.isArray(value)) return value.map((item) => emptySecrets(shape.item, item, isGone));
  if (shape.kind === 'variants') {
    const variant = variantOf(shape.variants, value);
    return variant === undefined ? value : emptySecrets(variant.schema, value, isGone);
  }
  if (shape.kind !== 'group' || !isJsonObject(value)) return value;
  const schemaOf = new Map(shape.properties.map(({ name, schema: part }) => [name, part]));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, emptySecrets(schemaOf.get(key) ?? {}, member, isGone)]),
  );
}

function bound<Key extends string>(key: Key, value: unknown): { [key in Key]?: number } {
  return typeof value === 'number' ? ({ [key]: value } as { [key in Key]: number }) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
