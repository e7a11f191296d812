import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { RestTool } from '#contract/quick-app/web-toolset.ts';
import { jsonType } from '../tools/body-kind.ts';
import type { RestMethod, RestPlace, RestStyle, RestTarget, RestToolDefinition } from '../tools/rest-tool.ts';

interface ParameterInfo {
  readonly type: RestPlace | 'url';
  readonly key?: string;
  readonly style?: RestStyle;
  readonly explode?: boolean;
}
type Property = JsonObject & { readonly parameter_info?: ParameterInfo };

/** One operation of a web API, ready to be called: constants are out of the model's sight, everything has its place. */
export function toRestToolDefinition({ rest_api_method_info: info, open_ai_tool }: RestTool): RestToolDefinition {
  const method = info.method_type.toUpperCase() as RestMethod;
  const { name, description, parameters } = open_ai_tool.function;
  const properties = Object.entries((parameters.properties ?? {}) as Readonly<Record<string, Property>>);
  const placed = properties.map(([property, schema]) => ({
    property,
    schema,
    target: targetOf(property, schema, { url: info.method_url, method }),
  }));
  const given = placed.filter(({ schema }) => !('const' in schema));
  const fixed = placed.filter(({ schema }) => 'const' in schema);
  return {
    name,
    description,
    parameters: toShown(parameters, given),
    method,
    url: info.method_url,
    arguments: given.map(({ property, target }) => ({ name: property, ...target })),
    constants: fixed.map(({ schema, target }) => ({ ...target, value: schema.const })),
    contentType: info.content_type ?? jsonType,
    isPublic: false,
  };
}

interface Request {
  readonly url: string;
  readonly method: RestMethod;
}

/** What says nothing of its place goes by name into the address, else to the query or the body as the method has it. */
function targetOf(property: string, schema: Property, { url, method }: Request): RestTarget {
  const { parameter_info: info } = schema;
  const isFile = holdsFile(schema) || holdsFile(schema.items);
  if (info !== undefined) {
    const { type, key = property, style, explode } = info;
    const place = type === 'url' ? 'path' : type;
    const written = { ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) };
    return { place, key, ...written, ...(isFile && { isFile }) };
  }
  if (url.includes(`{${property}}`)) return { place: 'path', key: property };
  if (method === 'GET' || method === 'DELETE') return { place: 'query', key: property };
  return { place: 'body', key: property, ...(isFile && { isFile }) };
}

/** As OpenAPI 3.0 says that a value is a file. */
function holdsFile(schema: unknown): boolean {
  return isJsonObject(schema) && schema.format === 'binary';
}

/** The JSON Schema without what is not the model's business. */
function toShown(parameters: JsonObject, given: readonly { property: string; schema: Property }[]): JsonObject {
  const shown = given.map(({ property, schema: { parameter_info: _info, ...schema } }) => [property, schema] as const);
  const names = new Set(given.map(({ property }) => property));
  const required = Array.isArray(parameters.required) ? parameters.required.filter((name) => names.has(name)) : [];
  const { type: _type, properties: _properties, required: _required, ...rest } = parameters;
  return { ...rest, type: 'object', properties: Object.fromEntries(shown), ...(required.length > 0 && { required }) };
}
