import type { TSchema } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { mapItems } from '../schemas/without-nulls.ts';
import type { Path } from './issue.ts';

/** The part of JSON Schema that the configuration is written in, read as plain data. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  /** Says in `title` what the free keys of an object are. */
  readonly propertyNames?: { readonly title?: string };
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  /** What is said of a text that does not match the pattern. */
  readonly errorMessage?: string;
  /** Never shown again once it was written. */
  readonly writeOnly?: boolean;
}

const anything: SchemaNode = {};

/** A schema of TypeBox, which is JSON Schema underneath. */
export function readSchema(schema: TSchema): SchemaNode {
  return schema as SchemaNode;
}

/** The schema of a member or an item; one that allows anything if the schema says nothing of it. */
export function getChild(node: SchemaNode, key: string | number): SchemaNode {
  if (typeof key === 'number') return node.items ?? anything;
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) return node.properties[key] ?? anything;
  return node.additionalProperties || anything;
}

/** The schema that a value is meant to follow, if there are several forms the one it can be meant as. */
export function getForm(node: SchemaNode, value: unknown): SchemaNode {
  return node.anyOf === undefined ? node : (formsFor(node.anyOf, value)[0] ?? anything);
}

/** The schema of the value at a path. */
export function schemaAt(schema: TSchema, path: Path): SchemaNode {
  return path.reduce<SchemaNode>(getChild, readSchema(schema));
}

/** What a value is in the words of JSON Schema: null, boolean, number, string, array or object; any other word for what JSON does not have. */
export function getKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** What a form of a union is for; a choice among words has no type of its own. */
export function kindOfForm({ type, enum: values }: SchemaNode): string | undefined {
  return type ?? (values?.every((word) => typeof word === 'string') ? 'string' : undefined);
}

/** The key whose constant tells the forms of a union apart, such as `type`. */
export function findDiscriminator(forms: readonly SchemaNode[]): string | undefined {
  const [first] = forms;
  return Object.keys(first?.properties ?? {}).find((key) => forms.every((form) => form.properties?.[key]?.const !== undefined));
}

/**
 * The forms of a union that a value can be meant as: those of its kind and, if a key tells them apart, with its constant;
 * if none does, those that know most of the value's keys.
 */
export function formsFor(forms: readonly SchemaNode[], value: unknown): readonly SchemaNode[] {
  const ofKind = forms.filter((form) => kindOfForm(form) === getKind(value));
  if (ofKind.length < 2 || !isJsonObject(value)) return ofKind;
  const discriminator = findDiscriminator(ofKind);
  if (discriminator !== undefined) {
    return ofKind.filter((form) => form.properties?.[discriminator]?.const === value[discriminator]);
  }
  const matchCounts = ofKind.map(
    ({ properties = {} }) => Object.keys(value).filter((key) => Object.hasOwn(properties, key)).length,
  );
  return ofKind.filter((_, index) => matchCounts[index] === Math.max(...matchCounts));
}

/**
 * A copy of the value with the defaults of the schema put in where keys are absent. What the value gets wrong is left as it is. Objects of the copy have
 * no prototype, so keys such as `__proto__` and `constructor` are keys like any other.
 */
export function complete(schema: TSchema, value: unknown): unknown {
  const node = getForm(readSchema(schema), value);
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

/** The value without optional fields of the schema that are null, unless null is one of their values; the same value if there are none. */
export function withoutNullFields(schema: TSchema, value: unknown): unknown {
  return withoutNulls(readSchema(schema), value);
}

function withoutNulls(schema: SchemaNode, value: unknown): unknown {
  const node = getForm(schema, value);
  if (Array.isArray(value)) {
    const item = getChild(node, 0);
    return mapItems(value, (element) => withoutNulls(item, element));
  }
  return isJsonObject(value) ? ofObject(node, value) : value;
}

function ofObject(node: SchemaNode, value: JsonObject): JsonObject {
  let result = value;
  for (const [key, member] of Object.entries(value)) {
    const isAbsent = member === null && isOptional(node, key);
    const cleaned = isAbsent ? undefined : withoutNulls(getChild(node, key), member);
    if (cleaned === member) continue;
    if (result === value) result = { ...value };
    if (isAbsent) delete result[key];
    else result[key] = cleaned;
  }
  return result;
}

/** One with a default may be left out too. */
function isOptional({ properties = {}, required = [] }: SchemaNode, key: string): boolean {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined || takesNull(property)) return false;
  return !required.includes(key) || property.default !== undefined;
}

function takesNull({ type, anyOf, enum: values, const: only }: SchemaNode): boolean {
  if (anyOf !== undefined) return anyOf.some(takesNull);
  return type === 'null' || (type === undefined && values === undefined && only === undefined);
}
