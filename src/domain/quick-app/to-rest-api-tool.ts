import type { JsonObject } from '#base/json/json.ts';
import type { RestTool } from '#contract/quick-app/web-toolset.ts';
import { jsonType } from '../tools/body-kind.ts';
import type { RestTarget, RestToolDefinition } from '../tools/rest-tool.ts';

/** An operation as an entry of a quick app's `web_api_toolset`: `toRestToolDefinition` makes the same of it again. */
export function toRestApiTool(definition: RestToolDefinition): RestTool {
  const { name, description, parameters, method, url, contentType } = definition;
  return {
    rest_api_method_info: {
      method_url: url,
      method_type: method.toLowerCase(),
      ...(contentType !== jsonType && { content_type: contentType }),
    },
    open_ai_tool: {
      type: 'function',
      function: { name, description, parameters: { ...parameters, type: 'object', properties: toProperties(definition) } },
    },
  };
}

function toProperties({ parameters, arguments: given, constants }: RestToolDefinition): Record<string, JsonObject> {
  const schemas = (parameters.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  const properties: Record<string, JsonObject> = Object.create(null);
  for (const { name, ...target } of given) {
    properties[name] = { ...toSchema(schemas[name] ?? {}), parameter_info: toInfo(target) };
  }
  for (const { value, ...target } of constants)
    properties[freeName(target.key, properties)] = { type: null, const: value, parameter_info: toInfo(target) };
  return properties;
}

function toInfo({ place, key, style, explode }: RestTarget): JsonObject {
  return { type: place, key, ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) };
}

/** What the model gives has no `const`, even with one value allowed: the form would hide it. */
function toSchema({ const: only, ...schema }: JsonObject): JsonObject {
  return only === undefined ? schema : { ...schema, enum: [only] };
}

function freeName(wanted: string, taken: object): string {
  let name = wanted;
  for (let nth = 2; name in taken; nth += 1) name = `${wanted}_${nth}`;
  return name;
}
