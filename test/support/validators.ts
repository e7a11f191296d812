import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isJsonObject } from '#base/json/json.ts';
import type { DocumentedOperation, OpenApiDocument } from './documented.ts';

/** Returns the errors of a value. */
type Check = (value: unknown) => readonly string[];

/** Validates values against the schemas of a document. Responses may not have undocumented fields. */
export class Validators {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  /** Compiled validators by schema. Most responses refer to the same component. */
  readonly #compiled = new Map<string, ValidateFunction>();
  readonly #document: unknown;

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv.addSchema(document, 'open');
    this.#ajv.addSchema(closeSchema(document) as object, 'closed');
  }

  request({ path, method }: DocumentedOperation, type: string): Check {
    return this.#check('open', ['paths', path, method, 'requestBody', 'content', type, 'schema']);
  }

  parameter({ path, method }: DocumentedOperation, index: number): Check {
    return this.#check('open', ['paths', path, method, 'parameters', String(index), 'schema']);
  }

  answer({ path, method }: DocumentedOperation, status: number | string, type: string): Check {
    return this.#check('closed', ['paths', path, method, 'responses', String(status), 'content', type, 'schema']);
  }

  /** Returns the check of a response that may have undocumented fields. */
  relayedAnswer({ path, method }: DocumentedOperation, status: number | string, type: string): Check {
    return this.#check('open', ['paths', path, method, 'responses', String(status), 'content', type, 'schema']);
  }

  #check(root: 'open' | 'closed', keys: readonly string[]): Check {
    const schema = keys.reduce((part, key) => (part as Readonly<Record<string, unknown>>)[key], this.#document);
    const cacheKey = `${root} ${JSON.stringify(schema)}`;
    const validate = this.#compiled.get(cacheKey) ?? this.#ajv.compile({ $ref: toPointer(root, keys) });
    this.#compiled.set(cacheKey, validate);
    return (value) => (validate(value) ? [] : (validate.errors ?? []).map((error) => JSON.stringify(error)));
  }
}

function toPointer(root: string, keys: readonly string[]): string {
  return `${root}#/${keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
}

/** Returns the schema with all described objects closed to undocumented fields. */
export function closeSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeSchema);
  if (!isJsonObject(schema)) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closeSchema(value)]));
  const isClosed = 'additionalProperties' in copy;
  return isJsonObject(copy.properties) && copy.type === 'object' && !isClosed ? { ...copy, additionalProperties: false } : copy;
}
