import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/**
 * Types by name: the fields of an object, or a type for a union. A type is `string`, `integer`, `number`, `boolean`, `null`,
 * `object`, `anything`, a quoted literal, or the name of another type. It may have `[]`, and ` | ` joins alternatives. A field
 * with `?` may be absent.
 */
export type Schemas = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Permitted differences by path: a type, or a function that returns errors. */
export type Differences = Readonly<Record<string, string | ((value: unknown) => readonly string[])>>;

const primitives: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  object: isJsonObject,
  '{string}': (value) => isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string'),
  anything: () => true,
};

/**
 * Validates values against schemas whose objects have no additional fields. The path of a permitted difference is `Schema.field`,
 * or `Union: type` for an object type that the union lacks. `*` stands for any type.
 */
export class Conformance {
  readonly #schemas: Schemas;
  readonly #differences: Differences;
  /** Number of occurrences of each schema, each optional field, and each difference. */
  readonly seen = new Map<string, number>();

  constructor(schemas: Schemas, differences: Differences) {
    this.#schemas = schemas;
    this.#differences = differences;
  }

  /** All keys that {@link seen} can have. */
  get countable(): readonly string[] {
    const fieldNames = Object.entries(this.#schemas).flatMap(([name, fields]) => {
      if (typeof fields === 'string') return [];
      const optional = Object.keys(fields).filter((field) => field.endsWith('?'));
      return [name, ...optional.map((field) => `${name}.${field.slice(0, -1)}`)];
    });
    return [...fieldNames, ...Object.keys(this.#differences)];
  }

  /** Returns the errors of a value, one per line. */
  findErrors(type: string, value: unknown, path = type): readonly string[] {
    const schema = this.#schemas[type];
    if (typeof schema === 'string') return this.findErrors(schema, value, type);
    const members = type.split(' | ');
    const leaves = members.flatMap((member) => this.#listLeaves(member));
    const fitting = leaves.find((leaf) => this.#fits(leaf, value));
    if (fitting === undefined) {
      const union = members.find((member) => typeof this.#schemas[member] === 'string') ?? path;
      const isOfObjects = leaves.some((leaf) => leaf in this.#schemas);
      const tag = isOfObjects && isJsonObject(value) && 'type' in value ? `: ${value.type}` : '';
      const typeName = `${union}${tag}`;
      return this.#applyDifference(
        typeName in this.#differences || tag === '' ? typeName : `${union}: *`,
        value,
        `is not ${type}`,
      );
    }
    if (fitting.endsWith('[]')) return (value as unknown[]).flatMap((item) => this.findErrors(fitting.slice(0, -2), item, path));
    const fields = this.#schemas[fitting];
    return typeof fields === 'object' ? this.#findFieldErrors(fitting, fields, value as JsonObject) : [];
  }

  #listLeaves(member: string): readonly string[] {
    const schema = this.#schemas[member];
    return typeof schema === 'string' ? schema.split(' | ').flatMap((alternative) => this.#listLeaves(alternative)) : [member];
  }

  #fits(leaf: string, value: unknown): boolean {
    if (leaf.endsWith('[]')) return Array.isArray(value);
    if (leaf.startsWith('"')) return leaf === JSON.stringify(value);
    const fields = this.#schemas[leaf];
    if (typeof fields !== 'object') return primitives[leaf]?.(value) ?? false;
    if (!isJsonObject(value)) return false;
    return fields.type?.startsWith('"') ? fields.type === JSON.stringify(value.type) : true;
  }

  #findFieldErrors(name: string, fields: Readonly<Record<string, string>>, value: JsonObject): readonly string[] {
    this.#count(name);
    const required = Object.keys(fields).filter((field) => !(field.endsWith('?') || field in value));
    const missing = required.map((field) => `${name}.${field} is missing`);
    const present = Object.entries(value).flatMap(([field, fieldValue]) => {
      const path = `${name}.${field}`;
      const optional = fields[`${field}?`];
      if (optional !== undefined) this.#count(path);
      const type = fields[field] ?? optional;
      return type === undefined
        ? this.#applyDifference(path, fieldValue, 'is not of the schema')
        : this.findErrors(type, fieldValue, path);
    });
    return [...missing, ...present];
  }

  #applyDifference(path: string, value: unknown, error: string): readonly string[] {
    const allowed = this.#differences[path];
    if (allowed === undefined) return [`${path} ${error}: ${JSON.stringify(value)?.slice(0, 200)}`];
    this.#count(path);
    return typeof allowed === 'string' ? this.findErrors(allowed, value, `${path}, as we have it,`) : allowed(value);
  }

  #count(name: string): void {
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1);
  }
}
