import type { JsonObject } from '#base/json.ts';
import type { RestTool } from '#contract/quick-app/web-toolset.ts';
import type { RestMethod, RestPlace, RestToolDefinition } from '../tools/rest-tool.ts';

type Property = JsonObject & { readonly parameter_info?: { readonly type: RestPlace; readonly key?: string } };

/** One operation of a web API, ready to be called: constants are out of the model's sight, everything has its place. */
export function toRestToolDefinition({ rest_api_method_info: info, open_ai_tool }: RestTool): RestToolDefinition {
  const method = info.method_type.toUpperCase() as RestMethod;
  const { name, description, parameters } = open_ai_tool.function;
  const properties = Object.entries((parameters.properties ?? {}) as Readonly<Record<string, Property>>);
  const placed = properties.map(([property, schema]) => ({
    property,
    schema,
    ...placeOf(property, schema, { url: info.method_url, method }),
  }));
  const given = placed.filter(({ schema }) => !('const' in schema));
  const fixed = placed.filter(({ schema }) => 'const' in schema);
  return {
    name,
    description,
    parameters: toShown(parameters, given),
    method,
    url: info.method_url,
    arguments: given.map(({ property, place, key }) => ({ name: property, place, key })),
    constants: fixed.map(({ schema, place, key }) => ({ place, key, value: schema.const })),
    bodyKind: 'json',
    isPublic: false,
  };
}

interface Request {
  readonly url: string;
  readonly method: RestMethod;
}

/** What says nothing of its place goes by name into the address, else to the query or the body as the method has it. */
function placeOf(
  property: string,
  { parameter_info: info }: Property,
  { url, method }: Request,
): { place: RestPlace; key: string } {
  if (info !== undefined) return { place: info.type, key: info.key ?? property };
  if (url.includes(`{${property}}`)) return { place: 'path', key: property };
  return { place: method === 'GET' || method === 'DELETE' ? 'query' : 'body', key: property };
}

/** The JSON Schema without what is not the model's business. */
function toShown(parameters: JsonObject, given: readonly { property: string; schema: Property }[]): JsonObject {
  const shown = given.map(({ property, schema: { parameter_info: _info, ...schema } }) => [property, schema] as const);
  const names = new Set(given.map(({ property }) => property));
  const required = Array.isArray(parameters.required) ? parameters.required.filter((name) => names.has(name)) : [];
  const { type: _type, properties: _properties, required: _required, ...rest } = parameters;
  return { ...rest, type: 'object', properties: Object.fromEntries(shown), ...(required.length > 0 && { required }) };
}
