import type { JsonObject } from '#base/json.ts';
import type { RestTool } from '#contract/quick-app/web-toolset.ts';
import type { RestArgument, RestToolDefinition } from '../tools/rest-tool.ts';

/** Why the form of quick apps has no words for an operation; undefined if it has. */
export function whyUnsayable({ arguments: given, constants, bodyKind }: RestToolDefinition): string | undefined {
  const places = [...given, ...constants].map(({ place }) => place);
  if (places.includes('whole-body')) return 'its body has no named fields';
  return bodyKind === 'form' && places.includes('body') ? 'its body is a form, and quick apps send JSON' : undefined;
}

/** An operation as an entry of a quick app's `web_api_toolset`: `toRestToolDefinition` makes the same of it again. To be given what `whyUnsayable` has nothing against. */
export function toRestApiTool(definition: RestToolDefinition): RestTool {
  const { name, description, parameters, method, url } = definition;
  return {
    rest_api_method_info: { method_url: url, method_type: method.toLowerCase() },
    open_ai_tool: {
      type: 'function',
      function: { name, description, parameters: { ...parameters, type: 'object', properties: toProperties(definition) } },
    },
  };
}

function toProperties({ parameters, arguments: given, constants }: RestToolDefinition): Record<string, JsonObject> {
  const schemas = (parameters.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  const properties: Record<string, JsonObject> = Object.create(null);
  for (const argument of given) {
    const { name, place, key } = argument;
    properties[name] = { ...toSchema(schemas[name] ?? {}, argument), parameter_info: { type: place, key } };
  }
  for (const { place, key, value } of constants)
    properties[freeName(key, properties)] = { type: null, const: value, parameter_info: { type: place, key } };
  return properties;
}

/** What the model gives has no `const`, even with one value allowed: the form would hide it. A list that is sent as one value is asked for as one. */
function toSchema({ const: only, ...schema }: JsonObject, { separator }: RestArgument): JsonObject {
  if (separator !== undefined) {
    const description = [schema.description, `Several values are joined by "${separator}".`].filter(Boolean).join(' ');
    return { type: 'string', description };
  }
  return only === undefined ? schema : { ...schema, enum: [only] };
}

function freeName(wanted: string, taken: object): string {
  let name = wanted;
  for (let nth = 2; name in taken; nth += 1) name = `${wanted}_${nth}`;
  return name;
}
