import type { TSchema } from 'typebox';
import { hasDefault, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { mapItems } from '../schemas/normalize-request.ts';
import type { Path } from './issue.ts';

/** The subset of JSON Schema that the configuration uses, as plain data. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  /** `title` is a term for the free keys of an object. */
  readonly propertyNames?: { readonly title?: string };
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  /** Error message for a text that does not match the pattern. */
  readonly errorMessage?: string;
  /** Whether the value is never displayed after it is saved. */
  readonly writeOnly?: boolean;
}

const anything: SchemaNode = {};

/** Returns a TypeBox schema as plain JSON Schema. */
export function readSchema(schema: TSchema): SchemaNode {
  return schema as SchemaNode;
}

/** Returns the schema of a member or item, or a schema that allows any value if it is not specified. */
export function getChild(node: SchemaNode, key: string | number): SchemaNode {
  if (typeof key === 'number') return node.items ?? anything;
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) return node.properties[key] ?? anything;
  return node.additionalProperties || anything;
}

/** Returns the schema for a value. For a union, returns the best matching variant. */
function selectVariant(node: SchemaNode, value: unknown): SchemaNode {
  return node.anyOf === undefined ? node : (listMatchingVariants(node.anyOf, value)[0] ?? anything);
}

/** Returns the schema of the value at a path. */
export function getSchemaAt(schema: TSchema, path: Path): SchemaNode {
  return path.reduce<SchemaNode>(getChild, readSchema(schema));
}

/**
 * Returns the kind of a value in terms of JSON Schema: null, boolean, number, string, array, or object. Returns another word for
 * values that JSON does not support.
 */
export function getKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Returns the kind of value that a variant of a union accepts. An enum of strings has no type. */
export function getVariantKind({ type, enum: values }: SchemaNode): string | undefined {
  return type ?? (values?.every((word) => typeof word === 'string') ? 'string' : undefined);
}

/** Returns the key whose constant value identifies the variants of a union, such as `type`. */
export function findDiscriminator(variants: readonly SchemaNode[]): string | undefined {
  const [first] = variants;
  return Object.keys(first?.properties ?? {}).find((key) =>
    variants.every(({ properties }) => properties?.[key]?.const !== undefined),
  );
}

/**
 * Returns the variants of a union that a value can match. They have the kind of the value and, if a key identifies the
 * variants, its constant. Without such a key, returns the variants that share the most keys with the value.
 */
export function listMatchingVariants(variants: readonly SchemaNode[], value: unknown): readonly SchemaNode[] {
  const variantsOfKind = variants.filter((variant) => getVariantKind(variant) === getKind(value));
  if (variantsOfKind.length < 2 || !isJsonObject(value)) return variantsOfKind;
  const discriminator = findDiscriminator(variantsOfKind);
  if (discriminator !== undefined) {
    return variantsOfKind.filter((variant) => variant.properties?.[discriminator]?.const === value[discriminator]);
  }
  const matchCounts = variantsOfKind.map(
    ({ properties = {} }) => Object.keys(value).filter((key) => Object.hasOwn(properties, key)).length,
  );
  return variantsOfKind.filter((_, index) => matchCounts[index] === Math.max(...matchCounts));
}

/**
 * Returns a copy with the defaults of the schema for absent keys. Invalid values stay unchanged. Objects of the copy have no
 * prototype, so `__proto__` and `constructor` are ordinary keys.
 */
export function complete(schema: TSchema, value: unknown): unknown {
  const node = selectVariant(readSchema(schema), value);
  if (Array.isArray(value)) return value.map((item, index) => complete(getChild(node, index), item));
  return isJsonObject(value) ? completeObject(node, value) : value;
}

function completeObject(node: SchemaNode, value: JsonObject): JsonObject {
  const copy: JsonObject = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) copy[key] = complete(getChild(node, key), member);
  }
  for (const [key, property] of Object.entries(node.properties ?? {})) {
    if (copy[key] === undefined && property.default !== undefined) copy[key] = complete(property, property.default);
  }
  return copy;
}

/**
 * Returns the value without optional fields that are null, unless null is a valid value. Returns the same value if there are
 * none.
 */
export function withoutNullFields(schema: TSchema, value: unknown): unknown {
  const node = selectVariant(readSchema(schema), value);
  if (Array.isArray(value)) {
    const item = getChild(node, 0);
    return mapItems(value, (element) => withoutNullFields(item, element));
  }
  return isJsonObject(value) ? omitMemberNulls(node, value) : value;
}

function omitMemberNulls(node: SchemaNode, value: JsonObject): JsonObject {
  let result = value;
  for (const [key, member] of Object.entries(value)) {
    const isAbsent = member === null && isOptional(node, key);
    const cleaned = isAbsent ? undefined : withoutNullFields(getChild(node, key), member);
    if (cleaned === member) continue;
    if (result === value) result = { ...value };
    if (isAbsent) delete result[key];
    else result[key] = cleaned;
  }
  return result;
}

/** Returns whether a null field can be omitted. Fields with a default are optional too. */
function isOptional({ properties = {}, required = [] }: SchemaNode, key: string): boolean {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined || acceptsNull(property)) return false;
  return !required.includes(key) || property.default !== undefined;
}

function acceptsNull({ type, anyOf, enum: values, const: only }: SchemaNode): boolean {
  if (anyOf !== undefined) return anyOf.some(acceptsNull);
  return type === 'null' || (type === undefined && values === undefined && only === undefined);
}

/** Placeholder for a masked secret. In a request, it refers to the stored secret. */
export const maskedSecret = '***';

/** Returns the replacement of a secret. JSON omits the field if it is undefined. */
export type ReplaceSecret = (secret: unknown, path: Path) => unknown;

/** Returns a copy of a value with replaced `writeOnly` fields. */
export function replaceSecrets(schema: SchemaNode, value: unknown, replace: ReplaceSecret, path: Path = []): unknown {
  const node = selectVariant(schema, value);
  if (schema.writeOnly === true || node.writeOnly === true) return replace(value, path);
  if (Array.isArray(value))
    return value.map((item, index) => replaceSecrets(getChild(node, index), item, replace, [...path, index]));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = Object.create(null);
  for (const [key, member] of Object.entries(value))
    copy[key] = replaceSecrets(getChild(node, key), member, replace, [...path, key]);
  return copy;
}

interface WrittenSchemaOptions {
  /** Whether `${NAME}` is valid for any scalar, because it is replaced before the check. */
  readonly acceptsReferences: boolean;
}

const reference = { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' };

/** Returns the JSON Schema of an incomplete value, for editors and forms: keys with a default are optional. */
export function toWrittenSchema(schema: unknown, options: WrittenSchemaOptions): unknown {
  if (Array.isArray(schema)) return schema.map((part) => toWrittenSchema(part, options));
  if (!isJsonObject(schema)) return schema;
  // A reference can replace a text or a part of it, so patterns apply only after substitution.
  const { required, properties, pattern: _pattern, errorMessage: _errorMessage, isPublic: _isPublic, ...otherKeywords } = schema;
  const result: JsonObject = {};
  for (const key of ['items', 'additionalProperties', 'anyOf'])
    if (key in otherKeywords) result[key] = toWrittenSchema(otherKeywords[key], options);
  if (isJsonObject(properties)) {
    const needed = Array.isArray(required) ? required.filter((key) => !hasDefault(properties[key])) : [];
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([key, property]) => [key, toWrittenSchema(property, options)]),
    );
    if (needed.length > 0) result.required = needed;
  }
  return options.acceptsReferences && isReplaceable(schema) ? withReference(otherKeywords) : { ...otherKeywords, ...result };
}

/** Returns whether a schema accepts only numbers, booleans, or listed values. A reference then needs its own variant. */
function isReplaceable({ type, enum: values }: JsonObject): boolean {
  return values !== undefined || type === 'number' || type === 'integer' || type === 'boolean';
}

function withReference({ description, default: byDefault, ...form }: JsonObject): JsonObject {
  return {
    anyOf: [form, reference],
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
}
