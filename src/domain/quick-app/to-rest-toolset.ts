import type { JsonObject } from '#base/json.ts';
import type { ObsoleteEndpoint, ObsoleteWebToolset, RestTool, RestToolset } from '#contract/quick-app/web-toolset.ts';

/** Name of the field that the key goes in, if none is given. */
const keyName = 'api_key';

/** The obsolete form of a web API in the recommended one. */
export function toRestToolset({ tool_endpoints, auth_info }: ObsoleteWebToolset): RestToolset {
  return {
    type: 'rest-api',
    name: 'Web API',
    authorization: auth_info && {
      type: 'api_key',
      key: auth_info.api_key,
      name: keyName,
      location: auth_info.url_param === true ? 'query' : 'header',
    },
    tools: tool_endpoints.map(toRestTool),
  };
}

function toRestTool({ name, description, method_url, method_type, parameters }: ObsoleteEndpoint): RestTool {
  const properties = parameters.map((parameter) => [parameter.name, toProperty(parameter, method_url)]);
  const required = parameters.filter(({ constant_value }) => isGivenByModel(constant_value)).map((parameter) => parameter.name);
  return {
    rest_api_method_info: { method_url, method_type },
    open_ai_tool: {
      type: 'function',
      function: { name, description, parameters: { type: 'object', properties: Object.fromEntries(properties), required } },
    },
  };
}

function isGivenByModel(constant: unknown): boolean {
  return constant === undefined || constant === null;
}

function toProperty(parameter: ObsoleteEndpoint['parameters'][number], url: string): JsonObject {
  const { name, description, parameter_type, url_param, constant_value, item_parameter_type, item_descriptor } = parameter;
  const items = {
    ...(item_parameter_type && { type: item_parameter_type }),
    ...(item_descriptor && { description: item_descriptor }),
  };
  const place = url.includes(`{${name}}`) ? 'path' : url_param === true ? 'query' : 'body';
  return {
    type: parameter_type,
    description,
    ...(parameter_type === 'array' && { items }),
    ...(!isGivenByModel(constant_value) && { const: constant_value }),
    parameter_info: { type: place, key: name },
  };
}
