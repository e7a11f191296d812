import { filterObjects, isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import { repairKeywords, schemaKeywords } from '#domain/tools/repair-schema.ts';
import {
  type BodyKind,
  getBodyKind,
  jsonType,
  type RestArgument,
  type RestStyle,
  type RestTarget,
  type RestToolDefinition,
} from '#domain/tools/rest-tool.ts';
import { toScalarText, toText } from './to-text.ts';

export type Arguments = Pick<RestToolDefinition, 'parameters' | 'arguments' | 'contentType'>;

/** Error for an operation that cannot become a tool. The message is the reason. */
export class UnsupportedOperation extends Error {}

const maxArgumentNameChars = 64;
const maxParameterDescriptionChars = 500;
/** Header parameters that must be ignored (OpenAPI 3.1, parameter object). */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization']);

/** Converts the parameters and body of an operation to arguments of a tool. Throws `UnsupportedOperation`. */
export function toArguments(operation: JsonObject, parameters: readonly JsonObject[], path: string): Arguments {
  const argumentList = new ArgumentList();
  for (const parameter of parameters) argumentList.addParameter(parameter);
  for (const [, name = ''] of path.matchAll(/\{([^{}]*)\}/g)) argumentList.addPathName(name);
  const contentType = argumentList.addBody(toObject(operation.requestBody));
  return { ...argumentList.build(), contentType };
}

class ArgumentList {
  readonly #copier = new SchemaCopier();
  readonly #arguments: RestArgument[] = [];
  readonly #properties: Record<string, JsonObject> = {};
  readonly #required: string[] = [];

  build(): Pick<Arguments, 'parameters' | 'arguments'> {
    const required = this.#required.length > 0 ? { required: this.#required } : {};
    return { parameters: { type: 'object', properties: this.#properties, ...required }, arguments: this.#arguments };
  }

  addParameter(parameter: JsonObject): void {
    const { in: location, required } = parameter;
    const key = toText(parameter.name);
    if (key === undefined || '$ref' in parameter) throw new UnsupportedOperation('one of its parameters is not defined');
    if (location === 'header' && ignoredHeaders.has(key.toLowerCase())) return;
    if (location !== 'path' && location !== 'query' && location !== 'header') {
      if (required === true)
        throw new UnsupportedOperation(`it requires ${key} in a ${toScalarText(location) ?? 'location that is not specified'}`);
      return;
    }
    const [content] = Object.values(toObject(parameter.content));
    const schema = { ...this.#copier.copy(parameter.schema ?? toObject(content).schema) };
    const description = toText(parameter.description);
    if (description !== undefined) schema.description = truncate(description, maxParameterDescriptionChars);
    const style = location === 'query' && content === undefined ? getQueryStyle(parameter, schema) : {};
    this.#add({ location, key, ...style }, schema, location === 'path' || required === true);
  }

  /** Adds a path parameter that the document does not describe. */
  addPathName(key: string): void {
    const isKnown = this.#arguments.some((argument) => argument.location === 'path' && argument.key === key);
    if (!isKnown) this.#add({ location: 'path', key }, { type: 'string' }, true);
  }

  /** Adds the fields of the body. Returns the media type to send. Throws `UnsupportedOperation`. */
  addBody(body: JsonObject): string {
    const bodyChoice = chooseBody(toObject(body.content));
    if (bodyChoice === undefined) {
      if (body.required === true) throw new UnsupportedOperation('its required body has no media type');
      return jsonType;
    }
    const { contentType, kind, media } = bodyChoice;
    if (kind === 'text' || kind === 'bytes') {
      this.#add({ location: 'whole_body', key: 'body' }, toTextSchema(bodyChoice, this.#copier), body.required === true);
      return contentType;
    }
    const bodySchema = mergeAllOf(unwrapAlternative(toObject(media.schema)));
    if (isAlwaysEmpty(bodySchema)) return jsonType;
    const schema = this.#copier.copy(bodySchema);
    const encoding = toObject(media.encoding);
    if (!hasNamedFields(bodySchema)) {
      const [firstEncoding] = filterObjects(Object.values(encoding));
      const style = kind === 'form' ? getFieldStyle(firstEncoding) : {};
      this.#add({ location: 'whole_body', key: 'body', ...style }, schema, body.required === true);
      return contentType;
    }
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const [key, property] of Object.entries(toObject(schema.properties)))
      this.#addField({ key, encoding: encoding[key], kind }, toObject(property), required.includes(key));
    return contentType;
  }

  #addField(
    { key, encoding, kind }: { key: string; encoding: unknown; kind: BodyKind },
    schema: JsonObject,
    isRequired: boolean,
  ): void {
    const isFile = kind === 'multipart' && isFileSchema(schema);
    const style = kind === 'json' || isFile ? {} : getFieldStyle(encoding);
    this.#add({ location: 'body', key, ...style, ...(isFile && { isFile }) }, isFile ? toFileSchema(schema) : schema, isRequired);
  }

  #add(argument: Omit<RestArgument, 'name'>, schema: JsonObject, isRequired: boolean): void {
    const name = this.#findFreeName(argument);
    this.#arguments.push({ name, ...argument });
    this.#properties[name] = schema;
    if (isRequired) this.#required.push(name);
  }

  /** Returns a name that models accept for a property. A prefix with the location distinguishes equal keys. */
  #findFreeName({ location, key }: Omit<RestArgument, 'name'>): string {
    const baseName = key.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, maxArgumentNameChars) || '_';
    const isFree = (name: string): boolean => name !== '__proto__' && !Object.hasOwn(this.#properties, name);
    if (isFree(baseName)) return baseName;
    for (let attempt = 1; ; attempt += 1) {
      const prefix = attempt === 1 ? `${location}_` : `${location}${attempt}_`;
      const name = `${prefix}${baseName}`.slice(0, maxArgumentNameChars);
      if (isFree(name)) return name;
    }
  }
}

/** Merges the parameters of the path and of the operation. Parameters of the operation override those of the path. */
export function mergeParameters(pathParameters: unknown, operationParameters: unknown): JsonObject[] {
  const byLocation = new Map(
    [...filterObjects(pathParameters), ...filterObjects(operationParameters)].map((parameter) => [
      [parameter.in, parameter.name, parameter.$ref].map(toScalarText).join(' '),
      parameter,
    ]),
  );
  return [...byLocation.values()];
}

/** A media type that an operation accepts. */
interface BodyChoice {
  readonly contentType: string;
  readonly kind: BodyKind;
  /** Media type object of OpenAPI 3.1. */
  readonly media: JsonObject;
}

const maxSchemaChars = 2000;
/** Body kinds, ordered by how well a model can fill them in. */
const preferredKinds: readonly BodyKind[] = ['json', 'form', 'multipart', 'text', 'bytes'];
const bytesHint = 'Text, or for bytes a data URL such as data:image/png;name=a.png;base64,…';

/** Returns the media type to send, or undefined if the operation names none. */
function chooseBody(content: JsonObject): BodyChoice | undefined {
  const types = Object.entries(content).map(([contentType, value]): BodyChoice => {
    const media = toObject(value);
    const isBinary = contentType.includes('*') && isFileSchema(toObject(media.schema));
    return isBinary
      ? { contentType: 'application/octet-stream', kind: 'bytes', media }
      : { contentType: contentType.replace('*/*', 'application/json'), kind: getBodyKind(contentType), media };
  });
  return types.toSorted((first, second) => preferredKinds.indexOf(first.kind) - preferredKinds.indexOf(second.kind))[0];
}

/** Returns the only non-null alternative of a schema. Returns other schemas unchanged. */
function unwrapAlternative(schema: JsonObject): JsonObject {
  const alternatives = [schema.oneOf, schema.anyOf].flatMap(filterObjects).filter(({ type }) => type !== 'null');
  const [only] = alternatives;
  return schema.properties === undefined && alternatives.length === 1 && only !== undefined ? unwrapAlternative(only) : schema;
}

/** Returns whether named fields can represent the body. Alternatives must not add further fields. */
function hasNamedFields({ properties, oneOf, anyOf }: JsonObject): boolean {
  const names = Object.keys(toObject(properties));
  const alternatives = [...filterObjects(oneOf), ...filterObjects(anyOf)];
  return (
    names.length > 0 &&
    alternatives.every((alternative) => Object.keys(toObject(alternative.properties)).every((name) => names.includes(name)))
  );
}

/** Returns whether the schema describes an empty object. Some documents give such a body to each operation. */
function isAlwaysEmpty({ properties, additionalProperties = false, ...schema }: JsonObject): boolean {
  const canHaveContent = ['allOf', 'anyOf', 'oneOf', '$ref', 'patternProperties'].some((keyword) => keyword in schema);
  return isJsonObject(properties) && Object.keys(properties).length === 0 && additionalProperties === false && !canHaveContent;
}

/** Returns whether the schema describes a file or a list of files. */
function isFileSchema(schema: JsonObject): boolean {
  const { format, contentMediaType, contentEncoding, type, items } = schema;
  if (type === 'array') return isFileSchema(toObject(items));
  return format === 'binary' || (contentMediaType !== undefined && contentEncoding === undefined);
}

/** Replaces a file schema with a string schema that explains the format to the model. */
function toFileSchema(schema: JsonObject): JsonObject {
  if (schema.type === 'array') return { ...schema, items: toFileSchema(toObject(schema.items)) };
  const description = [toText(schema.description), bytesHint].filter((text) => text !== undefined).join(' ');
  return { type: 'string', format: 'binary', description };
}

/** Returns a string schema for a body of text or bytes. If the body's schema has properties, the description contains it. */
function toTextSchema({ contentType, kind, media }: BodyChoice, copier: SchemaCopier): JsonObject {
  const { description, ...schema } = copier.copy(media.schema);
  const parts = [toText(description), `The body, as ${contentType}.`, kind === 'bytes' ? bytesHint : undefined];
  const shape = schema.properties === undefined ? undefined : `Its fields, as JSON Schema: ${JSON.stringify(schema)}`;
  const fullDescription = [...parts, shape].filter((part) => part !== undefined).join(' ');
  return { type: 'string', description: truncate(fullDescription, maxSchemaChars) };
}

type Style = Pick<RestTarget, 'style' | 'explode'>;

const styles: readonly RestStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** Returns the serialization style of a query parameter, or no style for the default. By default, lists repeat the key. */
function getQueryStyle(parameter: JsonObject, schema: JsonObject): Style {
  const style = styles.find((name) => name === parameter.style) ?? 'form';
  if (style === 'deepObject') return { style };
  if (style === 'form' && parameter.explode !== false) return canBeObject(schema) ? { style } : {};
  return parameter.explode === true ? {} : { style, explode: false };
}

/**
 * Returns the serialization style from the encoding object of a form field. By default, lists repeat the key and objects are
 * JSON.
 */
function getFieldStyle(encoding: unknown): Style {
  const { style, explode, contentType } = toObject(encoding);
  if (contentType !== undefined || (style === undefined && explode === undefined)) return {};
  const styleName = styles.find((name) => name === style) ?? 'form';
  return styleName === 'deepObject'
    ? { style: styleName }
    : { style: styleName, ...(typeof explode === 'boolean' && { explode }) };
}

function canBeObject(schema: JsonObject): boolean {
  const types = [schema.type].flat();
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(filterObjects);
  return types.includes('object') || schema.properties !== undefined || parts.some(canBeObject);
}

const maxDepth = 8;
const maxNodes = 2000;
const maxDescriptionChars = 500;

const droppedKeywords = new Set('example examples xml externalDocs discriminator deprecated readOnly writeOnly'.split(' '));

/**
 * Copies schemas of a dereferenced document for a model. Makes them finite, and drops read-only properties and keywords without
 * effect. Create one per operation, because all its schemas share the maximum size. A schema that is circular or too
 * deep becomes `{}`. Keywords beyond the maximum size are dropped.
 */
class SchemaCopier {
  #remainingNodes = maxNodes;
  readonly #activeSchemas = new Set<unknown>();

  copy(schema: unknown, depth = maxDepth): JsonObject {
    if (!isJsonObject(schema) || depth === 0 || this.#activeSchemas.has(schema) || '$ref' in schema) return {};
    this.#activeSchemas.add(schema);
    const entries = Object.entries(repairKeywords(schema))
      .filter(([keyword]) => !droppedKeywords.has(keyword) && !/^(x-|\$)/.test(keyword))
      .map(([keyword, value]) => [keyword, this.#copyKeyword(keyword, value, depth - 1)] as const);
    this.#activeSchemas.delete(schema);
    return removeDroppedNames(Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
  }

  #copyKeyword(keyword: string, value: unknown, depth: number): unknown {
    this.#remainingNodes -= 1;
    if (this.#remainingNodes < 0) return undefined;
    if (keyword === 'description') return truncate(toText(value) ?? '', maxDescriptionChars);
    if (schemaKeywords.list.has(keyword)) return filterObjects(value).map((schema) => this.copy(schema, depth));
    if (schemaKeywords.byName.has(keyword)) return this.#copyNamed(toObject(value), depth);
    if (schemaKeywords.single.has(keyword)) return typeof value === 'boolean' ? value : this.copy(value, depth);
    return this.#copyPlain(value, depth);
  }

  #copyNamed(schemas: JsonObject, depth: number): JsonObject {
    const writable = Object.entries(schemas).filter(([, schema]) => toObject(schema).readOnly !== true);
    return Object.fromEntries(writable.map(([name, schema]) => [name, this.copy(schema, depth)]));
  }

  #copyPlain(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    this.#remainingNodes -= 1;
    if (depth <= 0 || this.#remainingNodes < 0) return undefined;
    if (Array.isArray(value)) return value.map((item) => this.#copyPlain(item, depth - 1) ?? null);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#copyPlain(item, depth - 1)]));
  }
}

/** Removes names of dropped properties from `required`, and an empty `required` itself. */
function removeDroppedNames(schema: JsonObject): JsonObject {
  const { required, ...otherKeywords } = schema;
  if (!Array.isArray(required)) return otherKeywords;
  const { properties } = schema;
  const names = required.filter((name) => !isJsonObject(properties) || Object.hasOwn(properties, String(name)));
  return names.length === 0 ? otherKeywords : { ...otherKeywords, required: names };
}

/** Merges the parts of `allOf` into one object, if all parts have properties. */
function mergeAllOf(schema: JsonObject, depth = maxDepth): JsonObject {
  const parts = filterObjects(schema.allOf);
  if (parts.length === 0 || depth === 0) return schema;
  const merged = parts.map((part) => mergeAllOf(part, depth - 1));
  if (!merged.every(({ properties }) => isJsonObject(properties))) return schema;
  const { allOf: _allOf, ...otherKeywords } = schema;
  const schemas = [...merged, otherKeywords];
  return {
    ...otherKeywords,
    type: 'object',
    properties: Object.assign({}, ...schemas.map(({ properties }) => toObject(properties))),
    required: schemas.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  };
}
