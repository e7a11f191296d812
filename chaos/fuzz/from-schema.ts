import type { Random } from '../random.ts';
import { oddValue } from './odd-values.ts';

/** The supported part of JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** Returns the schema that a reference names. */
type Resolve = (reference: string) => Schema;

const deepest = 7;

/** Creates values that follow a schema, except for randomly chosen fields with odd values. */
export class SchemaValues {
  readonly #random: Random;
  readonly #resolve: Resolve;
  readonly #oddShare: number;

  constructor(random: Random, resolve: Resolve, oddShare: number) {
    this.#random = random;
    this.#resolve = resolve;
    this.#oddShare = oddShare;
  }

  make(schema: Schema, depth = 0): unknown {
    const random = this.#random;
    if (random.chance(this.#oddShare)) return oddValue(random);
    if (schema.$ref !== undefined) return this.make(this.#resolve(schema.$ref), depth + 1);
    if ('const' in schema) return schema.const;
    if (schema.enum !== undefined) return random.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.make(random.pick(choices), depth + 1);
    if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => this.make(part, depth + 1)));
    const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type ?? ['object', 'string']);
    return this.#ofType(type, schema, depth);
  }

  #ofType(type: string, schema: Schema, depth: number): unknown {
    const random = this.#random;
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return Array.from({ length: depth > deepest ? 0 : random.below(3) }, () => this.make(schema.items ?? {}, depth + 1));
      case 'integer':
      case 'number':
        return random.pick([schema.minimum ?? 0, schema.maximum ?? 1, (schema.maximum ?? 1) + 1, (schema.minimum ?? 0) - 1]);
      case 'boolean':
        return random.chance(0.5);
      case 'null':
        return null;
      default:
        return random.pick(['', 'a', 'demo', 'gpt', 'user', 'text', 'x'.repeat((schema.maxLength ?? 40) + random.below(2))]);
    }
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, depth: number): object {
    const random = this.#random;
    const isWanted = (name: string): boolean => required.includes(name) || (depth < deepest && random.chance(0.4));
    const entries = Object.entries(properties)
      .filter(([name]) => isWanted(name))
      .map(([name, schema]): [string, unknown] => [name, this.make(schema, depth + 1)]);
    if (typeof additionalProperties === 'object' && depth < deepest && random.chance(0.5))
      entries.push([random.pick(['a', 'demo', 'gpt', '__proto__']), this.make(additionalProperties, depth + 1)]);
    return Object.fromEntries(entries);
  }
}

/** Collects the names of all fields in a schema. */
export function namesIn(schema: unknown, names: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return names;
  const { properties } = schema as Schema;
  for (const name of Object.keys(properties ?? {})) names.add(name);
  for (const value of Object.values(schema)) namesIn(value, names);
  return names;
}
