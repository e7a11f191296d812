import { filterObjects, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { repairKeywords, schemaKeywords } from '#domain/tools/repair-schema.ts';
import {
  type BodyKind,
  bodyKindOf,
  jsonType,
  type RestArgument,
  type RestStyle,
  type RestTarget,
  type RestToolDefinition,
} from '#domain/tools/rest-tool.ts';
import { objectOf, shorten, textOf, wordOf } from './loose.ts';

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
      const [first] = filterObjects(Object.values(encoding));
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
    [...filterObjects(ofPath), ...filterObjects(ofOperation)].map((it) => [[it.in, it.name, it.$ref].map(wordOf).join(' '), it]),
  );
  return [...byPlace.values()];
}

/** One of the media types that an operation takes. */
interface ChosenBody {
  readonly contentType: string;
  readonly kind: BodyKind;
  /** Media type object of OpenAPI 3.1. */
  readonly media: JsonObject;
}

const longestSchema = 2000;
/** What a model can fill in best comes first. */
const preferred: readonly BodyKind[] = ['json', 'form', 'multipart', 'text', 'bytes'];
const howToGiveBytes = 'Text, or for bytes a data URL such as data:image/png;name=a.png;base64,…';

/** The media type to send; undefined if none is named. */
function chooseBody(content: JsonObject): ChosenBody | undefined {
  const types = Object.entries(content).map(([contentType, value]): ChosenBody => {
    const media = objectOf(value);
    const isBinary = contentType.includes('*') && isFileSchema(objectOf(media.schema));
    return isBinary
      ? { contentType: 'application/octet-stream', kind: 'bytes', media }
      : { contentType: contentType.replace('*/*', 'application/json'), kind: bodyKindOf(contentType), media };
  });
  return types.toSorted((one, other) => preferred.indexOf(one.kind) - preferred.indexOf(other.kind))[0];
}

/** Of alternatives one of which is null, the other. */
function onlyAlternative(schema: JsonObject): JsonObject {
  const given = [schema.oneOf, schema.anyOf].flatMap(filterObjects).filter(({ type }) => type !== 'null');
  const [only] = given;
  return schema.properties === undefined && given.length === 1 && only !== undefined ? onlyAlternative(only) : schema;
}

/** Whether fields can stand for the body: alternatives of it only choose among them. */
function hasNamedFields({ properties, oneOf, anyOf }: JsonObject): boolean {
  const names = Object.keys(objectOf(properties));
  const others = [...filterObjects(oneOf), ...filterObjects(anyOf)];
  return names.length > 0 && others.every((each) => Object.keys(objectOf(each.properties)).every((name) => names.includes(name)));
}

/** Whether nothing can be put into it: some documents give each operation a body. */
function isAlwaysEmpty({ properties, additionalProperties = false, ...schema }: JsonObject): boolean {
  const hasOthers = ['allOf', 'anyOf', 'oneOf', '$ref', 'patternProperties'].some((keyword) => keyword in schema);
  return isJsonObject(properties) && Object.keys(properties).length === 0 && additionalProperties === false && !hasOthers;
}

/** A file, or a list of files. */
function isFileSchema(schema: JsonObject): boolean {
  const { format, contentMediaType, contentEncoding, type, items } = schema;
  if (type === 'array') return isFileSchema(objectOf(items));
  return format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined);
}

/** What a model is asked for in place of a file. */
function toFileSchema(schema: JsonObject): JsonObject {
  if (schema.type === 'array') return { ...schema, items: toFileSchema(objectOf(schema.items)) };
  const description = [textOf(schema.description), howToGiveBytes].filter((each) => each !== undefined).join(' ');
  return { type: 'string', format: 'binary', description };
}

/** A body of text or bytes; what its fields would be is told in words. */
function toTextSchema({ contentType, kind, media }: ChosenBody, schemas: InputSchemas): JsonObject {
  const { description, ...schema } = schemas.copy(media.schema);
  const said = [textOf(description), `The body, as ${contentType}.`, kind === 'bytes' ? howToGiveBytes : undefined];
  const shape = schema.properties === undefined ? undefined : `Its fields, as JSON Schema: ${JSON.stringify(schema)}`;
  const told = [...said, shape].filter((each) => each !== undefined).join(' ');
  return { type: 'string', description: shorten(told, longestSchema) };
}

type Style = Pick<RestTarget, 'style' | 'explode'>;

const styles: readonly RestStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** How a parameter of the query is written, as far as it is not the way of its own: lists repeat the key. */
function styleOf(parameter: JsonObject, schema: JsonObject): Style {
  const style = styles.find((each) => each === parameter.style) ?? 'form';
  if (style === 'deepObject') return { style };
  if (style === 'form' && parameter.explode !== false) return mayBeObject(schema) ? { style } : {};
  return parameter.explode === true ? {} : { style, explode: false };
}

/** How a field of a form is written where its encoding object says so; undefined: lists repeat the key, objects are JSON. */
function encodedStyle(encoding: unknown): Style {
  const { style, explode, contentType } = objectOf(encoding);
  if (contentType !== undefined || (style === undefined && explode === undefined)) return {};
  const named = styles.find((each) => each === style) ?? 'form';
  return named === 'deepObject' ? { style: named } : { style: named, ...(typeof explode === 'boolean' && { explode }) };
}

function mayBeObject(schema: JsonObject): boolean {
  const types = [schema.type].flat();
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(filterObjects);
  return types.includes('object') || schema.properties !== undefined || parts.some(mayBeObject);
}

const maxDepth = 8;
const maxNodes = 2000;
const maxDescriptionChars = 500;

const dropped = new Set(['example', 'examples', 'xml', 'externalDocs', 'discriminator', 'deprecated', 'readOnly', 'writeOnly']);

/**
 * Copies schemas of a dereferenced document as a model may see them: finite, without what callers cannot send and what says
 * nothing. One for an operation, since it bounds them together: beyond the bound, and where a schema holds itself, is `{}`.
 */
class InputSchemas {
  #nodesLeft = maxNodes;
  readonly #open = new Set<unknown>();

  copy(schema: unknown, depth = maxDepth): JsonObject {
    if (!isJsonObject(schema) || depth === 0 || this.#open.has(schema) || '$ref' in schema) return {};
    this.#open.add(schema);
    const copied = Object.entries(repairKeywords(schema)).filter(
      ([keyword]) => !dropped.has(keyword) && !/^(x-|\$)/.test(keyword),
    );
    const entries = copied.map(([keyword, value]) => [keyword, this.#copyKeyword(keyword, value, depth - 1)] as const);
    this.#open.delete(schema);
    return withoutDroppedNames(Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
  }

  #copyKeyword(keyword: string, value: unknown, depth: number): unknown {
    this.#nodesLeft -= 1;
    if (this.#nodesLeft < 0) return undefined;
    if (keyword === 'description') return shorten(textOf(value) ?? '', maxDescriptionChars);
    if (schemaKeywords.list.has(keyword)) return filterObjects(value).map((schema) => this.copy(schema, depth));
    if (schemaKeywords.named.has(keyword)) return this.#copyNamed(objectOf(value), depth);
    if (schemaKeywords.single.has(keyword)) return typeof value === 'boolean' ? value : this.copy(value, depth);
    return this.#copyPlain(value, depth);
  }

  #copyNamed(schemas: JsonObject, depth: number): JsonObject {
    const sendable = Object.entries(schemas).filter(([, schema]) => objectOf(schema).readOnly !== true);
    return Object.fromEntries(sendable.map(([name, schema]) => [name, this.copy(schema, depth)]));
  }

  #copyPlain(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    this.#nodesLeft -= 1;
    if (depth <= 0 || this.#nodesLeft < 0) return undefined;
    if (Array.isArray(value)) return value.map((item) => this.#copyPlain(item, depth - 1) ?? null);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#copyPlain(item, depth - 1)]));
  }
}

/** A `required` names only what is there; one that is left empty says nothing. */
function withoutDroppedNames(schema: JsonObject): JsonObject {
  const { required, ...rest } = schema;
  if (!Array.isArray(required)) return rest;
  const properties = isJsonObject(schema.properties) ? schema.properties : undefined;
  const names = required.filter((name) => properties === undefined || Object.hasOwn(properties, String(name)));
  return names.length === 0 ? rest : { ...rest, required: names };
}

/** Objects that `allOf` puts together, as one object if each part is one. */
function mergeAllOf(schema: JsonObject, depth = maxDepth): JsonObject {
  const parts = filterObjects(schema.allOf);
  if (parts.length === 0 || depth === 0) return schema;
  const merged = parts.map((part) => mergeAllOf(part, depth - 1));
  if (!merged.every(({ properties }) => isJsonObject(properties))) return schema;
  const { allOf: _allOf, ...own } = schema;
  const all = [...merged, own];
  return {
    ...own,
    type: 'object',
    properties: Object.assign({}, ...all.map(({ properties }) => objectOf(properties))),
    required: all.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  };
}
