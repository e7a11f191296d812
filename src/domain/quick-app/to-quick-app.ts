import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { QuickAppForm } from '#contract/quick-app/form.ts';
import type {
  ClientTool,
  McpToolset,
  ObsoleteEndpoint,
  ObsoleteWebToolset,
  RestTool,
  RestToolset,
} from '#contract/quick-app/toolsets.ts';
import {
  jsonType,
  type RestLocation,
  type RestMethod,
  type RestStyle,
  type RestTarget,
  type RestToolDefinition,
} from '../tools/rest-tool.ts';
import { DeploymentFilter } from './deployment-filter.ts';
import type { McpToolsetSettings, QuickApp, QuickAppToolset, RestToolsetSettings } from './quick-app.ts';

/** Converts the flat form of `applicationProperties` (docs/quick-app-reference.md). Requires a valid form with defaults applied. */
export function toQuickApp(form: QuickAppForm): QuickApp {
  return {
    instructions: form.instructions,
    model: form.model,
    temperature: form.temperature,
    starters: form.starters ?? [],
    context: form.context ?? {},
    toolsets: [...toToolsets(form)],
    filter: toFilter(form),
  };
}

function toFilter({ applications_as_tools: entries = [] }: QuickAppForm): DeploymentFilter | undefined {
  const conditions = entries.flatMap((entry) => (typeof entry === 'string' ? [] : [entry.conditions]));
  return conditions.length === 0 ? undefined : new DeploymentFilter(conditions);
}

function* toToolsets(form: QuickAppForm): Iterable<QuickAppToolset> {
  for (const entry of form.applications_as_tools ?? []) {
    if (typeof entry === 'string') yield { kind: 'deployment', id: entry };
  }
  for (const tool of form.client_toolset ?? []) {
    yield { kind: 'client', name: tool.name, description: tool.description, parameters: toParameters(tool) };
  }
  for (const toolset of [...(form.web_api_toolset ?? []), ...(form.web_api_toolset_alternative ?? [])]) {
    yield toWebToolset(toolset);
  }
  for (const toolset of form.mcp_toolset ?? []) yield toMcpToolset(toolset);
  const files = [form.document_relative_url ?? []].flat();
  if (files.length > 0) yield { kind: 'documents', files, retrieval: form.retrieval ?? {} };
}

function toParameters({ parameters }: ClientTool): JsonObject {
  const properties = parameters.map(({ name, description, parameter_type }) => [name, { type: parameter_type, description }]);
  return { type: 'object', properties: Object.fromEntries(properties), required: parameters.map(({ name }) => name) };
}

function toWebToolset(toolset: RestToolset | ObsoleteWebToolset): RestToolsetSettings {
  const { name, authorization, tools } = 'tool_endpoints' in toolset ? toRestToolset(toolset) : toolset;
  return { kind: 'rest', name, authorization: authorization ?? null, tools: tools.map(toRestToolDefinition) };
}

/** Converts an entry of `mcp_toolset`. */
export function toMcpToolset(toolset: McpToolset): McpToolsetSettings {
  const { name, mcp_server_info, allowed_tools: allowedTools, resources = false, prompts = false } = toolset;
  const { url, protocol, authorization = null } = mcp_server_info;
  return { kind: 'mcp', name, url, protocol, authorization, allowedTools, resources, prompts };
}

interface ParameterInfo {
  readonly type: RestLocation | 'url';
  readonly key?: string;
  readonly style?: RestStyle;
  readonly explode?: boolean;
}
type Property = JsonObject & { readonly parameter_info?: ParameterInfo };

/** Converts an operation of a web API. Hides constants from the model, and resolves the target of each value. */
export function toRestToolDefinition({ rest_api_method_info: info, open_ai_tool }: RestTool): RestToolDefinition {
  const method = info.method_type.toUpperCase() as RestMethod;
  const { name, description, parameters } = open_ai_tool.function;
  const properties = Object.entries((parameters.properties ?? {}) as Readonly<Record<string, Property>>);
  const targetedProperties = properties.map(([property, schema]) => ({
    property,
    schema,
    target: findTarget(property, schema, method, info.method_url),
  }));
  const visibleProperties = targetedProperties.filter(({ schema }) => !('const' in schema));
  const constantProperties = targetedProperties.filter(({ schema }) => 'const' in schema);
  return {
    name,
    description,
    parameters: toVisibleParameters(parameters, visibleProperties),
    method,
    url: info.method_url,
    arguments: visibleProperties.map(({ property, target }) => ({ name: property, ...target })),
    constants: constantProperties.map(({ schema, target }) => ({ ...target, value: schema.const })),
    contentType: info.content_type ?? jsonType,
    isPublic: false,
  };
}

/**
 * Returns where a value belongs in the request. Without explicit information, a value fills the placeholder of its name in the
 * URL. Any other value belongs in the query for GET and DELETE, otherwise in the body.
 */
function findTarget(property: string, schema: Property, method: RestMethod, url: string): RestTarget {
  const { parameter_info: info } = schema;
  const isFile = isFileSchema(schema) || isFileSchema(schema.items);
  if (info !== undefined) {
    const { type, key = property, style, explode } = info;
    const location = type === 'url' ? 'path' : type;
    const serialization = { ...(style !== undefined && { style }), ...(explode !== undefined && { explode }) };
    return { location, key, ...serialization, ...(isFile && { isFile }) };
  }
  if (url.includes(`{${property}}`)) return { location: 'path', key: property };
  if (method === 'GET' || method === 'DELETE') return { location: 'query', key: property };
  return { location: 'body', key: property, ...(isFile && { isFile }) };
}

/** Returns whether a schema describes a file in the format of OpenAPI 3.0. */
function isFileSchema(schema: unknown): boolean {
  return isJsonObject(schema) && schema.format === 'binary';
}

/** Returns the JSON Schema with only the properties that the model provides, and without `parameter_info`. */
function toVisibleParameters(
  parameters: JsonObject,
  visibleProperties: readonly { property: string; schema: Property }[],
): JsonObject {
  const properties = visibleProperties.map(
    ({ property, schema: { parameter_info: _info, ...schema } }) => [property, schema] as const,
  );
  const names = new Set(visibleProperties.map(({ property }) => property));
  const required = Array.isArray(parameters.required) ? parameters.required.filter((name) => names.has(name)) : [];
  const { type: _type, properties: _properties, required: _required, ...keywords } = parameters;
  return { ...keywords, type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

/** Name of the header or query parameter with the key in the obsolete form. */
const obsoleteKeyName = 'api_key';

/** Converts the obsolete form of a web API to the recommended one. */
function toRestToolset({ tool_endpoints, auth_info }: ObsoleteWebToolset): RestToolset {
  return {
    type: 'rest-api',
    name: 'Web API',
    authorization: auth_info && {
      type: 'api_key',
      key: auth_info.api_key,
      name: obsoleteKeyName,
      location: auth_info.url_param === true ? 'query' : 'header',
    },
    tools: tool_endpoints.map(toRestTool),
  };
}

function toRestTool({ name, description, method_url, method_type, parameters }: ObsoleteEndpoint): RestTool {
  const properties = parameters.map((parameter) => [parameter.name, toProperty(parameter, method_url)]);
  const required = parameters.filter(({ constant_value }) => hasNoConstant(constant_value)).map((parameter) => parameter.name);
  return {
    rest_api_method_info: { method_url, method_type },
    open_ai_tool: {
      type: 'function',
      function: { name, description, parameters: { type: 'object', properties: Object.fromEntries(properties), required } },
    },
  };
}

function hasNoConstant(constant: unknown): boolean {
  return constant === undefined || constant === null;
}

function toProperty(parameter: ObsoleteEndpoint['parameters'][number], url: string): JsonObject {
  const { name, description, parameter_type, url_param, constant_value, item_parameter_type, item_descriptor } = parameter;
  const items = {
    ...(item_parameter_type && { type: item_parameter_type }),
    ...(item_descriptor && { description: item_descriptor }),
  };
  const location = url.includes(`{${name}}`) ? 'path' : url_param === true ? 'query' : 'body';
  return {
    type: parameter_type,
    description,
    ...(parameter_type === 'array' && { items }),
    ...(!hasNoConstant(constant_value) && { const: constant_value }),
    parameter_info: { type: location, key: name },
  };
}
