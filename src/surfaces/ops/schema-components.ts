import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { NamedSchema, Schema } from '../http/operation.ts';

/** Keywords whose value is a schema, or a list of schemas. */
const nested = ['items', 'additionalProperties', 'propertyNames', 'anyOf', 'oneOf', 'allOf', 'not'];

/** The schemas of a document: those with a name stand in it once, and are referred to wherever they are used. */
export class SchemaComponents {
  readonly #byName: Record<string, unknown> = {};
  #isSent = false;

  /** Complete once every schema of the document was shown. */
  get byName(): Readonly<Record<string, unknown>> {
    return this.#byName;
  }

  /** The schema of something that is answered, as the document shows it. */
  show(schema: Schema | NamedSchema): unknown {
    return this.#show(schema);
  }

  /** The same of something that is sent: what takes fields that are not described says so, since generators of clients refuse them else. */
  showSent(schema: Schema | NamedSchema): unknown {
    this.#isSent = true;
    const shown = this.#show(schema);
    this.#isSent = false;
    return shown;
  }

  #show(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((each) => this.#show(each));
    if (!isJsonObject(schema)) return schema;
    return isNamed(schema) ? this.#refer(schema) : this.#copy(schema);
  }

  #refer({ name, schema }: NamedSchema): JsonObject {
    this.#byName[name] ??= this.#show(schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  /**
   * A default becomes a sentence, and its property may be absent: generators of clients require what has a `default`. The
   * message of our own check is no keyword of JSON Schema. A secret that is written only may be answered hidden.
   */
  #copy({ errorMessage: _errorMessage, default: byDefault, required, properties, writeOnly, ...rest }: JsonObject): JsonObject {
    const shown: JsonObject = { ...rest, ...(this.#isSent && writeOnly !== undefined && { writeOnly }) };
    for (const key of nested) if (key in rest) shown[key] = this.#show(rest[key]);
    if (byDefault !== undefined) shown.description = withDefault(rest.description, byDefault);
    const isWithoutBound = shown.type === 'object' && shown.additionalProperties === undefined;
    if (isWithoutBound && (this.#isSent || properties === undefined)) shown.additionalProperties = true;
    if (!isJsonObject(properties)) return { ...shown, ...(required !== undefined && { required }) };
    shown.properties = Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, this.#show(property)]));
    const needed = Array.isArray(required) ? required.filter((key) => !hasDefault(properties[key])) : [];
    return needed.length === 0 ? shown : { ...shown, required: needed };
  }
}

/** No JSON Schema has both keywords. */
function isNamed(schema: object): schema is NamedSchema {
  return 'name' in schema && 'schema' in schema;
}

function hasDefault(schema: unknown): boolean {
  return isJsonObject(schema) && schema.default !== undefined;
}

function withDefault(description: unknown, byDefault: unknown): string {
  const sentence = `Default: \`${JSON.stringify(byDefault)}\`.`;
  return typeof description === 'string' ? `${description} ${sentence}` : sentence;
}
