import type { JsonObject } from '#base/json.ts';
import type { RestArgument, RestToolDefinition } from '#domain/tools/rest-tool.ts';
import { InputSchemas, mergeAllOf } from './input-schema.ts';
import { objectOf, objectsOf, shorten, textOf, wordOf } from './loose.ts';

export type Arguments = Pick<RestToolDefinition, 'parameters' | 'arguments' | 'bodyKind'>;

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
  const bodyKind = collected.addBody(objectOf(operation.requestBody));
  return { ...collected.done(), bodyKind };
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
    const separator = separatorOf(parameter);
    this.#add({ place, key, ...(separator !== undefined && { separator }) }, schema, place === 'path' || required === true);
  }

  /** Names in a path that nobody described are arguments all the same. */
  addPathName(key: string): void {
    const isKnown = this.#arguments.some((argument) => argument.place === 'path' && argument.key === key);
    if (!isKnown) this.#add({ place: 'path', key }, { type: 'string' }, true);
  }

  addBody(body: JsonObject): Arguments['bodyKind'] {
    const found = findContent(objectOf(body.content));
    if (found === undefined) {
      if (body.required === true) throw new UnsupportedOperation('its body is neither JSON nor a form');
      return 'json';
    }
    const schema = this.#schemas.copy(mergeAllOf(found.schema));
    const properties = Object.entries(objectOf(schema.properties));
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const [key, property] of properties) this.#add({ place: 'body', key }, objectOf(property), required.includes(key));
    if (properties.length === 0) this.#add({ place: 'whole-body', key: 'body' }, schema, body.required === true);
    return found.kind;
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

/** What joins an array's items if the parameter is not repeated. */
function separatorOf({ in: place, style, explode }: JsonObject): string | undefined {
  if (place !== 'query' || explode !== false) return undefined;
  if (style === 'spaceDelimited') return ' ';
  return style === 'pipeDelimited' ? '|' : ',';
}

function findContent(content: JsonObject): { kind: Arguments['bodyKind']; schema: JsonObject } | undefined {
  const types = Object.entries(content);
  const json = types.find(([type]) => /^application\/(?:[\w.+-]+\+)?json\b|^\*\/\*/i.test(type));
  const form = types.find(([type]) => /^application\/x-www-form-urlencoded\b/i.test(type));
  const found = json ?? form;
  return found && { kind: found === json ? 'json' : 'form', schema: objectOf(objectOf(found[1]).schema) };
}

/** Those of the path and those of the operation, which win. */
export function mergeParameters(ofPath: unknown, ofOperation: unknown): JsonObject[] {
  const byPlace = new Map(
    [...objectsOf(ofPath), ...objectsOf(ofOperation)].map((it) => [[it.in, it.name, it.$ref].map(wordOf).join(' '), it]),
  );
  return [...byPlace.values()];
}
