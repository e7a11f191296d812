import { type Static, Type } from 'typebox';
import { isFieldName, isFieldValue, ownFields } from '#base/http/header-fields.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { isHttpUrl, isWithoutUser } from '../configuration/values.ts';
import { createRequestError, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { withoutNulls } from '../schemas/normalize-request.ts';

const text = Type.String();
const toolName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,128}$' });
const anyObject = Type.Unsafe<JsonObject>({ type: 'object' });

const FunctionTool = Type.Object({
  type: Type.Literal('function'),
  name: toolName,
  description: Type.Optional(text),
  parameters: Type.Optional(anyObject),
  strict: Type.Optional(Type.Boolean()),
});
export type FunctionTool = Static<typeof FunctionTool>;

const CustomTool = Type.Object({
  type: Type.Literal('custom'),
  name: toolName,
  description: Type.Optional(text),
  format: Type.Optional(
    Type.Object({ type: Type.Enum(['text', 'grammar']), syntax: Type.Optional(text), definition: Type.Optional(text) }),
  ),
});
export type CustomTool = Static<typeof CustomTool>;

const toolNames = Type.Array(text);

/** Filter for the tools of a server: by name, by the read-only annotation, or both. */
const McpToolFilter = Type.Object({ tool_names: Type.Optional(toolNames), read_only: Type.Optional(Type.Boolean()) });
export type McpToolFilter = Static<typeof McpToolFilter>;

const ApprovalFilters = Type.Object({ always: Type.Optional(McpToolFilter), never: Type.Optional(McpToolFilter) });

const McpTool = Type.Object({
  type: Type.Literal('mcp'),
  server_label: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' }),
  server_url: text,
  server_description: Type.Optional(text),
  authorization: Type.Optional(text),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  allowed_tools: Type.Optional(Type.Union([toolNames, McpToolFilter])),
  require_approval: Type.Optional(Type.Union([Type.Enum(['always', 'never']), ApprovalFilters])),
});
/** A remote MCP server whose tools the model can call. */
export type McpTool = Static<typeof McpTool>;

export interface NamespaceTool {
  type: 'namespace';
  name: string;
  description?: string;
  tools: (FunctionTool | CustomTool)[];
}

const namespaceShape = Type.Object({
  type: Type.Literal('namespace'),
  name: toolName,
  description: Type.Optional(text),
  tools: Type.Array(Type.Unknown()),
});

/** A tool that the upstream runs, or that only clients and models of the OpenAI API support. */
export interface OtherTool {
  type: string;
  [key: string]: unknown;
}

export type ResponsesTool = FunctionTool | CustomTool | NamespaceTool | McpTool | OtherTool;

/** Prefixes of the types of other tools. Some types end in a date. */
const otherToolTypes = [
  ...['apply_patch', 'code_interpreter', 'computer', 'file_search', 'image_generation', 'local_shell'],
  ...['programmatic_tool_calling', 'shell', 'tool_search', 'web_search'],
];

const shapes = {
  function: compileShape(FunctionTool),
  custom: compileShape(CustomTool),
  namespace: compileShape(namespaceShape),
  mcp: compileShape(McpTool),
};

const nullableFields = new Set([
  ...['description', 'parameters', 'strict', 'format', 'server_url', 'connector_id', 'server_description', 'authorization'],
  ...['headers', 'allowed_tools', 'require_approval', 'defer_loading', 'output_schema', 'allowed_callers', 'tunnel_id'],
]);

export function isOtherTool(tool: ResponsesTool): tool is OtherTool {
  return !Object.hasOwn(shapes, tool.type);
}

export function isFunctionTool(tool: ResponsesTool): tool is FunctionTool {
  return tool.type === 'function';
}

export function isCustomTool(tool: ResponsesTool): tool is CustomTool {
  return tool.type === 'custom';
}

export function isNamespaceTool(tool: ResponsesTool): tool is NamespaceTool {
  return tool.type === 'namespace';
}

export function isMcpTool(tool: ResponsesTool): tool is McpTool {
  return tool.type === 'mcp';
}

/**
 * Validates tools and omits fields that are null. `path` locates them, such as `tools`. Throws `invalid_request` with the path of
 * the first error.
 */
export function parseTools(tools: readonly unknown[], path: string): ResponsesTool[] {
  const parsed = tools.map((tool, index) => parseTool(tool, `${path}[${index}]`));
  rejectDuplicates(parsed, path);
  return parsed;
}

function parseTool(value: unknown, path: string): ResponsesTool {
  if (!isJsonObject(value)) throw createRequestError(path, 'must be an object');
  const { type } = value;
  if (typeof type !== 'string') throw createRequestError(`${path}.type`, type === undefined ? 'is required' : 'must be a string');
  const tool = withoutNulls(value, nullableFields);
  switch (type) {
    case 'function':
      return requireShape(shapes.function, tool, path);
    case 'custom':
      return parseCustom(tool, path);
    case 'namespace':
      return parseNamespace(tool, path);
    case 'mcp':
      return parseMcpTool(tool, path);
  }
  if (otherToolTypes.some((prefix) => type === prefix || type.startsWith(`${prefix}_`))) return { ...tool, type };
  throw createRequestError(`${path}.type`, `is ${JSON.stringify(type.slice(0, 64))}, which is not a tool type of this API`);
}

function parseCustom(value: JsonObject, path: string): CustomTool {
  const tool = requireShape(shapes.custom, value, path);
  if (tool.format?.type === 'grammar' && tool.format.definition === undefined)
    throw createRequestError(`${path}.format.definition`, 'is required');
  return tool;
}

function parseNamespace(value: JsonObject, path: string): NamespaceTool {
  const { tools: rawTools, ...otherFields } = requireShape(shapes.namespace, value, path);
  const tools = rawTools.map((tool, index) => {
    const toolPath = `${path}.tools[${index}]`;
    const inner = parseTool(withoutNulls(tool, nullableFields), toolPath);
    if (isFunctionTool(inner) || isCustomTool(inner)) return inner;
    throw createRequestError(`${toolPath}.type`, 'must be "function" or "custom"');
  });
  rejectDuplicates(tools, `${path}.tools`);
  return { ...otherFields, tools };
}

/** Throws if two tools have the same name, because a call could refer to either of them. */
function rejectDuplicates(tools: readonly ResponsesTool[], path: string): void {
  const names = new Set<string>();
  tools.forEach((tool, index) => {
    const name = isMcpTool(tool) ? `mcp ${tool.server_label}` : isOtherTool(tool) ? undefined : `tool ${getName(tool)}`;
    const field = isMcpTool(tool) ? 'server_label' : 'name';
    if (name === undefined) return;
    if (names.has(name)) throw createRequestError(`${path}[${index}].${field}`, 'is already the name of another tool');
    names.add(name);
  });
}

function getName(tool: ResponsesTool): string {
  return 'name' in tool && typeof tool.name === 'string' ? tool.name : '';
}

/** Header fields of the connection or of MCP. */
const reservedHeaders: ReadonlySet<string> = new Set([
  ...ownFields,
  ...['content-type', 'upgrade', 'te', 'trailer', 'accept', 'expect', 'keep-alive'],
  ...['mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
]);

/**
 * Validates a tool of the type `mcp`. Its optional fields must not be null. Throws `invalid_request` with the path of the first
 * error.
 */
function parseMcpTool(tool: JsonObject, path: string): McpTool {
  if (tool.connector_id !== undefined)
    throw createRequestError(`${path}.connector_id`, 'is not supported. Use server_url with the address of an MCP server');
  const server = requireShape(shapes.mcp, tool, path);
  requireAddress(server.server_url, `${path}.server_url`);
  if (server.authorization !== undefined && !isFieldValue(server.authorization))
    throw createRequestError(`${path}.authorization`, 'must be a token that is valid in a header field');
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    const headerPath = `${path}.headers.${name.slice(0, 64)}`;
    if (!isFieldName(name) || !isFieldValue(value)) throw createRequestError(headerPath, 'must be a valid HTTP header field');
    if (reservedHeaders.has(name.toLowerCase()))
      throw createRequestError(headerPath, 'is reserved for the connection or for MCP. Remove it');
  }
  return server;
}

function requireAddress(url: string, path: string): void {
  if (!isHttpUrl(url)) throw createRequestError(path, 'must be an address that begins with http:// or https://');
  if (!isWithoutUser(url))
    throw createRequestError(path, 'must not contain a user name or password. Use authorization or headers');
}
