import type { JsonObject } from '#base/json.ts';
import { type BodyKind, jsonType } from '#domain/tools/body-kind.ts';
import type { RestArgument, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import {
  chooseBody,
  hasNamedFields,
  isAlwaysEmpty,
  isFileSchema,
  onlyAlternative,
  toFileSchema,
  toTextSchema,
} from './body-schema.ts';
import { InputSchemas, mergeAllOf } from './input-schema.ts';
import { objectOf, objectsOf, shorten, textOf, wordOf } from './loose.ts';
import { encodedStyle, styleOf } from './style-of.ts';

export type Arguments = Pick<RestToolDefinition, 'parameters' | 'arguments' | 'contentType'>;

/** An operation asks for what a tool cannot send. */
export class UnsupportedOperation extends Error {}

const longestArgumentName = 64;
const longestDescription = 500;
/** Set by the client itself (OpenAPI 3.1, parameter object). */
const headersOfTheClient = new Set(['accept', 'content-type', 'authorization']);

/** Parameters and body of an operation as arguments of a tool. Throws UnsupportedOperation. */
export function toArguments(operation: JsonObject, parameters: readonly JsonObject[], path: string): Arguments {
  const collected = new ArgumentList();
  for (const parameter of parameters) collected.addParameter(parameter);
  for (const [, name = ''] of path.matchAll(/\{([^{}]*)\}/g)) collected.addPathName(name);
  const contentType = collected.addBody(objectOf(operation.requestBody));
  return { ...collected.done(), contentType };
}

class ArgumentList {
  readonly #schemas = new InputSchemas();
  readonly #arguments: RestArgument[] = [];
  readonly #properties: Record<string, JsonObject> = {};
  readonly #required: string[] = [];

  done(): Pick<Arguments, 'parameters' | 'arguments'> {
    const required = this.#required.length > 0 ? { required: this.#required } : {};
    return { parameters: { type: 'object', properties: this.#properties, ...required }, arguments: this.#arguments };
  }

  addParameter(parameter: JsonObject): void {
    const { in: place, required } = parameter;
    const key = textOf(parameter.name);
    if (key === undefined || '$ref' in parameter) throw new UnsupportedOperation('one of its parameters is not defined');
    if (place === 'header' && headersOfTheClient.has(key.toLowerCase())) return;
    if (place !== 'path' && place !== 'query' && place !== 'header') {
      if (required === true) throw new UnsupportedOperation(`it needs ${key} in a ${wordOf(place) ?? 'place that is not named'}`);
      return;
    }
    const [content] = Object.values(objectOf(parameter.content));
    const schema = { ...this.#schemas.copy(parameter.schema ?? objectOf(content).schema) };
    const description = textOf(parameter.description);
    if (description !== undefined) schema.description = shorten(description, longestDescription);
    const written = place === 'query' && content === undefined ? styleOf(parameter, schema) : {};
    this.#add({ place, key, ...written }, schema, place === 'path' || required === true);
  }

  /** Names in a path that nobody described are arguments all the same. */
  addPathName(key: string): void {
    const isKnown = this.#arguments.some((argument) => argument.place === 'path' && argument.key === key);
    if (!isKnown) this.#add({ place: 'path', key }, { type: 'string' }, true);
  }

  addBody(body: JsonObject): string {
    const found = chooseBody(objectOf(body.content));
    if (found === undefined) {
      if (body.required === true) throw new UnsupportedOperation('it needs a body of which no media type is told');
      return jsonType;
    }
    const { contentType, kind, media } = found;
    if (kind === 'text' || kind === 'bytes') {
      this.#add({ place: 'whole_body', key: 'body' }, toTextSchema(found, this.#schemas), body.required === true);
      return contentType;
    }
    const written = mergeAllOf(onlyAlternative(objectOf(media.schema)));
    if (isAlwaysEmpty(written)) return jsonType;
    const schema = this.#schemas.copy(written);
    const encoding = objectOf(media.encoding);
    if (!hasNamedFields(written)) {
      const [first] = objectsOf(Object.values(encoding));
      const style = kind === 'form' ? encodedStyle(first) : {};
      this.#add({ place: 'whole_body', key: 'body', ...style }, schema, body.required === true);
      return contentType;
    }
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const [key, property] of Object.entries(objectOf(schema.properties)))
      this.#addField({ key, encoding: encoding[key], kind }, objectOf(property), required.includes(key));
    return contentType;
  }

  #addField(
    { key, encoding, kind }: { key: string; encoding: unknown; kind: BodyKind },
    schema: JsonObject,
    isRequired: boolean,
  ): void {
    const isFile = kind === 'multipart' && isFileSchema(schema);
    const style = kind === 'json' || isFile ? {} : encodedStyle(encoding);
    this.#add({ place: 'body', key, ...style, ...(isFile && { isFile }) }, isFile ? toFileSchema(schema) : schema, isRequired);
  }

  #add(argument: Omit<RestArgument, 'name'>, schema: JsonObject, isRequired: boolean): void {
    const name = this.#freeName(argument);
    this.#arguments.push({ name, ...argument });
    this.#properties[name] = schema;
    if (isRequired) this.#required.push(name);
  }

  /** A name models accept for a property; the place tells apart what has the same key. */
  #freeName({ place, key }: Omit<RestArgument, 'name'>): string {
    const wanted = key.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, longestArgumentName) || '_';
    const isFree = (name: string): boolean => name !== '__proto__' && !Object.hasOwn(this.#properties, name);
    if (isFree(wanted)) return wanted;
    for (let nth = 1; ; nth += 1) {
      const prefix = nth === 1 ? `${place}_` : `${place}${nth}_`;
      const name = `${prefix}${wanted}`.slice(0, longestArgumentName);
      if (isFree(name)) return name;
    }
  }
}

/** Those of the path and those of the operation, which win. */
export function mergeParameters(ofPath: unknown, ofOperation: unknown): JsonObject[] {
  const byPlace = new Map(
    [...objectsOf(ofPath), ...objectsOf(ofOperation)].map((it) => [[it.in, it.name, it.$ref].map(wordOf).join(' '), it]),
  );
  return [...byPlace.values()];
}
