import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AdditionalTools, AnyItem } from '#contract/responses/input-items.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isMcpTool, type McpTool, type McpToolFilter, type ResponsesTool } from '#contract/responses/tools.ts';
import type { RemoteServer, RemoteToolFacts } from '#domain/tools/remote-server.ts';
import { flattened } from './offered-tools.ts';

/** Context for checking the MCP servers of a request. */
interface ServerCheckContext {
  /** Hosts that the configuration allows. */
  readonly hosts: readonly string[];
  /** Items of the conversation, which may contain tools. */
  readonly items: readonly AnyItem[];
  readonly getPath: (item: AnyItem) => string;
}

/** Returns the MCP servers of a request. Throws `invalid_request` for a server that is not allowed. */
export function toRemoteServers(request: ResponsesRequest, { hosts, items, getPath }: ServerCheckContext): RemoteServer[] {
  const { tools = [], tool_choice: choice } = request;
  const matches = [
    ...listServers(tools, 'tools'),
    ...items.filter(isAdditional).flatMap((item) => listServers(item.tools, getPath(item))),
  ];
  const reportedLabels = new Set(
    items.flatMap((item) => (item.type === 'mcp_list_tools' && !('error' in item && item.error) ? [getLabel(item)] : [])),
  );
  return matches.map(({ server, at }) => {
    requireHost(server, { hosts, at });
    const isAllowed = toAllowed(server, choice);
    return { ...toRemoteServer(server, isAllowed), isListed: !reportedLabels.has(server.server_label) };
  });
}

interface LocatedServer {
  readonly server: McpTool;
  readonly at: string;
}

function listServers(tools: readonly ResponsesTool[], at: string): LocatedServer[] {
  const path = at === 'tools' ? at : `${at}.tools`;
  return tools.flatMap((tool, index) => (isMcpTool(tool) ? [{ server: tool, at: `${path}[${index}]` }] : []));
}

function isAdditional(item: AnyItem): item is AdditionalTools {
  return item.type === 'additional_tools';
}

function getLabel(item: AnyItem): unknown {
  return (item as JsonObject).server_label;
}

function requireHost({ server_url }: McpTool, { hosts, at }: { hosts: readonly string[]; at: string }): void {
  const { host, hostname } = new URL(server_url);
  if (hosts.some((allowed) => [host, hostname].includes(allowed.toLowerCase()))) return;
  throw createRequestError(
    `${at}.server_url`,
    `is on the host ${host}, which the configuration does not allow. Add it to responses.mcpServers, or remove the tool`,
  );
}

function toRemoteServer(server: McpTool, isAllowed: (name: string) => boolean): Omit<RemoteServer, 'isListed'> {
  const { server_label: label, server_url: url, server_description: description = '', authorization, headers } = server;
  const { allowed_tools: allowed, require_approval: approval = 'always' } = server;
  const filter: McpToolFilter = Array.isArray(allowed) ? { tool_names: allowed } : (allowed ?? {});
  return {
    settings: {
      ...{ kind: 'mcp', name: label, url, protocol: 'streamable_http' },
      authorization: authorization === undefined ? null : { type: 'bearer', token: authorization },
      ...(headers && { headers }),
      allowedTools: filter.tool_names,
    },
    description,
    isOffered: (tool) => isAllowed(tool.name) && isMeant(tool, filter),
    needsApproval: (tool) => needsApproval(tool, approval),
    toOfferedName: (name) => toMcpName(label, name),
  };
}

/** Returns the name of a server's tool for the model. */
export function toMcpName(label: string, name: string): string {
  return flattened(name, label);
}

/** An empty filter matches all tools. */
function isMeant({ name, isReadOnly }: RemoteToolFacts, { tool_names: names, read_only: readOnly }: McpToolFilter): boolean {
  return (names?.includes(name) ?? true) && (readOnly === undefined || readOnly === isReadOnly);
}

/**
 * Tools that match both filters need approval. Tools that match no filter also need it, unless only the `always` filter exists.
 */
function needsApproval(tool: RemoteToolFacts, approval: NonNullable<McpTool['require_approval']>): boolean {
  if (typeof approval === 'string') return approval === 'always';
  const { always, never } = approval;
  if (always !== undefined && isMeant(tool, always)) return true;
  return never === undefined ? always === undefined : !isMeant(tool, never);
}

/** Returns a filter for the tools of a server. `allowed_tools` may exclude the server or some of its tools. */
function toAllowed({ server_label: label }: McpTool, choice: ResponsesRequest['tool_choice']): (name: string) => boolean {
  if (typeof choice !== 'object' || choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return () => true;
  const ownTools = choice.tools.filter((tool) => isJsonObject(tool) && tool.type === 'mcp' && tool.server_label === label);
  return (name) => ownTools.some((tool) => (tool.name ?? name) === name);
}
