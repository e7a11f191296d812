import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** One of several formats of a value. */
export interface Variant {
  readonly schema: JsonObject;
  /** Constants that distinguish the variant. */
  readonly constants: JsonObject;
  readonly hint: string;
}

export interface Property {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** How the value of a JSON Schema is edited. `json`: as text, if no other editor fits. */
export type Shape =
  | { readonly kind: 'text'; readonly isSecret: boolean }
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'fixed'; readonly value: unknown }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'list'; readonly item: JsonObject }
  | { readonly kind: 'group'; readonly properties: readonly Property[] }
  | { readonly kind: 'variants'; readonly variants: readonly Variant[]; readonly isNullable: boolean }
  | { readonly kind: 'json' };

/** Never throws, even for an invalid schema. */
export function toShape(schema: JsonObject): Shape {
  if (Object.hasOwn(schema, 'const')) return { kind: 'fixed', value: schema.const };
  if (Array.isArray(schema.enum) && schema.enum.every((item) => typeof item === 'string')) {
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
        isInteger: schema.type === 'integer',
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

/** Only objects without further keys are drawn. A group could not show further keys. */
function toGroup(schema: JsonObject): Shape {
  if (!isJsonObject(schema.properties) || schema.additionalProperties !== false) return { kind: 'json' };
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(schema.properties).map(([name, part]) => ({
    name,
    schema: isJsonObject(part) ? part : {},
    isRequired: required.includes(name),
  }));
  return { kind: 'group', properties: properties.sort((left, right) => getOrder(left) - getOrder(right)) };
}

function getOrder({ schema }: Property): number {
  return typeof schema['x-order'] === 'number' ? schema['x-order'] : Number.MAX_SAFE_INTEGER;
}

function toVariants(branches: readonly unknown[]): Shape {
  const forms = branches.filter(isJsonObject);
  const objectForms = forms.filter(({ type }) => type !== 'null');
  const [onlyForm] = objectForms;
  const isNullable = objectForms.length < forms.length;
  if (onlyForm !== undefined && objectForms.length === 1 && toShape(onlyForm).kind !== 'group') return toShape(onlyForm);
  if (!objectForms.every((form) => toShape(form).kind === 'group')) return { kind: 'json' };
  return { kind: 'variants', isNullable, variants: objectForms.map(toVariant) };
}

function toVariant(schema: JsonObject): Variant {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const constants = properties.flatMap(([key, part]) =>
    isJsonObject(part) && Object.hasOwn(part, 'const') ? [[key, part.const]] : [],
  );
  return { schema, constants: Object.fromEntries(constants), hint: toText(schema.description) };
}

/** Returns the variant of a value, or undefined if it matches none. */
export function findVariant(variants: readonly Variant[], value: unknown): Variant | undefined {
  if (!isJsonObject(value)) return undefined;
  const isMatch = ({ schema, constants }: Variant): boolean => {
    const required = Array.isArray(schema.required) ? schema.required : [];
    const hasConstants = Object.entries(constants).every(([key, mark]) => value[key] === mark);
    return hasConstants && (Object.keys(constants).length > 0 || required.every((key) => Object.hasOwn(value, String(key))));
  };
  return variants.find(isMatch);
}

/** Returns the initial value: all required parts, empty except for examples. */
export function getInitialValue(schema: JsonObject): unknown {
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
        shape.properties.filter(({ isRequired }) => isRequired).map(({ name, schema: part }) => [name, getInitialValue(part)]),
      );
    case 'variants':
      return shape.isNullable || shape.variants[0] === undefined ? null : getInitialValue(shape.variants[0].schema);
    case 'json':
      return schema.type === 'object' ? {} : null;
  }
}

/** Returns the initial value of a list item, using the first variant. */
export function getFirstItem(item: JsonObject): unknown {
  const shape = toShape(item);
  return shape.kind === 'variants' && shape.variants[0] !== undefined
    ? getInitialValue(shape.variants[0].schema)
    : getInitialValue(item);
}

/** Placeholder for a stored secret. */
export const hiddenSecret = '***';

/** Returns the value with empty text for every secret, as defined by the schema, that `shouldEmpty` accepts. */
export function emptySecrets(schema: JsonObject, value: unknown, shouldEmpty: (secret: string) => boolean): unknown {
  const shape = toShape(schema);
  if (shape.kind === 'text' && shape.isSecret) return typeof value === 'string' && shouldEmpty(value) ? '' : value;
  if (shape.kind === 'list' && Array.isArray(value)) return value.map((item) => emptySecrets(shape.item, item, shouldEmpty));
  if (shape.kind === 'variants') {
    const variant = findVariant(shape.variants, value);
    return variant === undefined ? value : emptySecrets(variant.schema, value, shouldEmpty);
  }
  if (shape.kind !== 'group' || !isJsonObject(value)) return value;
  const schemas = new Map(shape.properties.map(({ name, schema: part }) => [name, part]));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, emptySecrets(schemas.get(key) ?? {}, member, shouldEmpty)]),
  );
}

function bound<Key extends string>(key: Key, value: unknown): { [key in Key]?: number } {
  return typeof value === 'number' ? ({ [key]: value } as { [key in Key]: number }) : {};
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
