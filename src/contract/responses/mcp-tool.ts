import { type Static, Type } from 'typebox';
import { isFieldName, isFieldValue, ownFields } from '#base/http/header-fields.ts';
import type { JsonObject } from '#base/json/json.ts';
import { createRequestError, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';

const text = Type.String();
const names = Type.Array(text);

/** Filter for the tools of a server: by name, by the read-only annotation, or both. */
const McpToolFilter = Type.Object({ tool_names: Type.Optional(names), read_only: Type.Optional(Type.Boolean()) });
export type McpToolFilter = Static<typeof McpToolFilter>;

const ApprovalFilters = Type.Object({ always: Type.Optional(McpToolFilter), never: Type.Optional(McpToolFilter) });

const McpTool = Type.Object({
  type: Type.Literal('mcp'),
  server_label: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-zA-Z0-9_-]+$' }),
  server_url: text,
  server_description: Type.Optional(text),
  authorization: Type.Optional(text),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  allowed_tools: Type.Optional(Type.Union([names, McpToolFilter])),
  require_approval: Type.Optional(Type.Union([Type.Enum(['always', 'never']), ApprovalFilters])),
});
/** A remote MCP server whose tools the model may call. */
export type McpTool = Static<typeof McpTool>;

const shape = compileShape(McpTool);
/** Header fields of the connection or of MCP. */
const reserved: ReadonlySet<string> = new Set([
  ...ownFields,
  ...['content-type', 'upgrade', 'te', 'trailer', 'accept', 'expect', 'keep-alive'],
  ...['mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
]);

/**
 * Validates a tool of the type `mcp`. Its optional fields must not be null. Throws `invalid_request` with the path of the first
 * error.
 */
export function parseMcpTool(tool: JsonObject, at: string): McpTool {
  if (tool.connector_id !== undefined)
    throw createRequestError(`${at}.connector_id`, 'is not supported. Use server_url with the address of an MCP server');
  const server = requireShape(shape, tool, at);
  requireAddress(server.server_url, `${at}.server_url`);
  if (server.authorization !== undefined && !isFieldValue(server.authorization))
    throw createRequestError(`${at}.authorization`, 'must be a token that is valid in a header field');
  for (const [name, value] of Object.entries(server.headers ?? {})) {
    const path = `${at}.headers.${name.slice(0, 64)}`;
    if (!isFieldName(name) || !isFieldValue(value)) throw createRequestError(path, 'must be a valid HTTP header field');
    if (reserved.has(name.toLowerCase())) throw createRequestError(path, 'is reserved for the connection or for MCP. Remove it');
  }
  return server;
}

function requireAddress(url: string, at: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw createRequestError(at, 'must be an address that begins with http:// or https://');
  if (parsed.username !== '' || parsed.password !== '')
    throw createRequestError(at, 'must not contain a user name or password. Use authorization or headers');
}
