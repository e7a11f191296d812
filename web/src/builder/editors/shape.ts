import { isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';

/** Keywords that a form adds to a JSON Schema. */
export const formKeywords = {
  /** Position of a property in its group. */
  order: 'x-order',
  /** Whether a property is in the collapsed section of its group. */
  collapsed: 'x-collapsed',
  /** Label of the button that adds an item. */
  addLabel: 'x-add-label',
  /** Labels of the options, by value. */
  optionLabels: 'x-labels',
  /** Values that a text field suggests. */
  suggestions: 'x-suggestions',
} as const;

/** One of several alternative schemas of a value. */
export interface Variant {
  readonly schema: JsonObject;
  /** Constants that distinguish the variant. */
  readonly constants: JsonObject;
  readonly hint: string;
}

/** A property of an object schema. */
export interface Property {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** Kind of the editor for a JSON Schema, with its parameters. `json` is the fallback, which edits the value as JSON text. */
export type Shape =
  | { readonly kind: 'text'; readonly isSecret: boolean }
  | { readonly kind: 'number'; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'fixed'; readonly value: unknown }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'list'; readonly item: JsonObject }
  | { readonly kind: 'map'; readonly item: JsonObject }
  | { readonly kind: 'group'; readonly properties: readonly Property[] }
  | { readonly kind: 'variants'; readonly variants: readonly Variant[]; readonly isNullable: boolean }
  | { readonly kind: 'json' };

/** Returns the kind of editor for a schema. Never throws, even for an invalid schema. */
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
        ...(typeof schema.minimum === 'number' && { min: schema.minimum }),
        ...(typeof schema.maximum === 'number' && { max: schema.maximum }),
      };
    case 'boolean':
      return { kind: 'switch' };
    case 'array':
      return isJsonObject(schema.items) ? { kind: 'list', item: schema.items } : { kind: 'json' };
    case 'object':
      return toObjectShape(schema);
    default:
      return { kind: 'json' };
  }
}

/** Returns `map` for a record, and `json` for other objects with additional properties, because a group cannot display them. */
function toObjectShape(schema: JsonObject): Shape {
  if (isJsonObject(schema.propertyNames) && isJsonObject(schema.additionalProperties))
    return { kind: 'map', item: schema.additionalProperties };
  if (!isJsonObject(schema.properties) || schema.additionalProperties !== false) return { kind: 'json' };
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(schema.properties).map(([name, part]) => ({
    name,
    schema: toObject(part),
    isRequired: required.includes(name),
  }));
  return { kind: 'group', properties: properties.sort((left, right) => getOrder(left) - getOrder(right)) };
}

function getOrder({ schema: { [formKeywords.order]: order } }: Property): number {
  return typeof order === 'number' ? order : Number.MAX_SAFE_INTEGER;
}

function toVariants(branches: readonly unknown[]): Shape {
  const branchSchemas = branches.filter(isJsonObject);
  const nonNullSchemas = branchSchemas.filter(({ type }) => type !== 'null');
  const [onlySchema] = nonNullSchemas;
  const isNullable = nonNullSchemas.length < branchSchemas.length;
  if (onlySchema !== undefined && nonNullSchemas.length === 1 && toShape(onlySchema).kind !== 'group') return toShape(onlySchema);
  if (!nonNullSchemas.every((schema) => toShape(schema).kind === 'group')) return { kind: 'json' };
  return { kind: 'variants', isNullable, variants: nonNullSchemas.map(toVariant) };
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
    const hasConstants = Object.entries(constants).every(([key, constant]) => value[key] === constant);
    return hasConstants && (Object.keys(constants).length > 0 || required.every((key) => Object.hasOwn(value, String(key))));
  };
  return variants.find(isMatch);
}

/** Returns the shape for a value. If the schema has variants, returns the shape and the hint of the variant of the value. */
export function resolveShape(schema: JsonObject, value: unknown): { readonly shape: Shape; readonly variantHint: string } {
  const shape = toShape(schema);
  const variant = shape.kind === 'variants' ? findVariant(shape.variants, value) : undefined;
  return variant === undefined ? { shape, variantHint: '' } : { shape: toShape(variant.schema), variantHint: variant.hint };
}

/** Returns the schema of a property or list item. Empty if it is unknown. */
export function getPartSchema(shape: Shape, key: string): JsonObject {
  if (shape.kind === 'list' || shape.kind === 'map') return shape.item;
  return (shape.kind === 'group' && shape.properties.find(({ name }) => name === key)?.schema) || {};
}

/**
 * Returns the initial value: the default if the schema has one. Otherwise, text starts with its first example, and a group has only
 * its required properties.
 */
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
    case 'map':
      return {};
    case 'json':
      return schema.type === 'object' ? {} : null;
  }
}

/** Returns the initial value of a list item, using the first variant. */
export function getInitialItem(item: JsonObject): unknown {
  const shape = toShape(item);
  return shape.kind === 'variants' && shape.variants[0] !== undefined
    ? getInitialValue(shape.variants[0].schema)
    : getInitialValue(item);
}

/** Placeholder that the service returns for a stored secret. */
export const secretPlaceholder = '***';

/** Returns a copy of the value with an empty string for every secret of the schema that `shouldClear` accepts. */
export function clearSecrets(schema: JsonObject, value: unknown, shouldClear: (secret: string) => boolean): unknown {
  const { shape } = resolveShape(schema, value);
  if (shape.kind === 'text' && shape.isSecret) return typeof value === 'string' && shouldClear(value) ? '' : value;
  if (shape.kind === 'list' && Array.isArray(value)) return value.map((item) => clearSecrets(shape.item, item, shouldClear));
  if (shape.kind !== 'group' || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, clearSecrets(getPartSchema(shape, key), member, shouldClear)]),
  );
}
