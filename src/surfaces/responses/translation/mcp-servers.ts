import { isJsonObject, type JsonObject, toText } from '#base/json/json.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AdditionalTools, AnyItem } from '#contract/responses/input-items.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isMcpTool, type McpTool, type McpToolFilter, type ResponsesTool } from '#contract/responses/tools.ts';
import type { ApprovedCall, RemoteServer, RemoteToolTraits } from '#domain/tools/remote-server.ts';
import { flattenName } from './offered-tools.ts';

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
  const servers = [
    ...listServers(tools, 'tools'),
    ...items.filter(isAdditionalTools).flatMap((item) => listServers(item.tools, getPath(item))),
  ];
  const listedLabels = new Set(
    items.flatMap((item) =>
      item.type === 'mcp_list_tools' && !('error' in item && item.error) ? [(item as JsonObject).server_label] : [],
    ),
  );
  return servers.map(({ server, path }) => {
    requireHost(server, { hosts, path });
    const isAllowed = createAllowedFilter(server, choice);
    return { ...toRemoteServer(server, isAllowed), isListed: !listedLabels.has(server.server_label) };
  });
}

interface LocatedServer {
  readonly server: McpTool;
  readonly path: string;
}

function listServers(tools: readonly ResponsesTool[], path: string): LocatedServer[] {
  const toolsPath = path === 'tools' ? path : `${path}.tools`;
  return tools.flatMap((tool, index) => (isMcpTool(tool) ? [{ server: tool, path: `${toolsPath}[${index}]` }] : []));
}

function isAdditionalTools(item: AnyItem): item is AdditionalTools {
  return item.type === 'additional_tools';
}

function requireHost({ server_url }: McpTool, { hosts, path }: { hosts: readonly string[]; path: string }): void {
  const { host, hostname } = new URL(server_url);
  if (hosts.some((allowed) => [host, hostname].includes(allowed.toLowerCase()))) return;
  throw createRequestError(
    `${path}.server_url`,
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
    isOffered: (tool) => isAllowed(tool.name) && matchesFilter(tool, filter),
    needsApproval: (tool) => needsApproval(tool, approval),
    toOfferedName: (name) => toMcpName(label, name),
  };
}

/** Returns the name of a server's tool for the model. */
export function toMcpName(label: string, name: string): string {
  return flattenName(name, label);
}

/** Returns whether a tool matches a filter. An empty filter matches all tools. */
function matchesFilter(
  { name, isReadOnly }: RemoteToolTraits,
  { tool_names: names, read_only: readOnly }: McpToolFilter,
): boolean {
  return (names?.includes(name) ?? true) && (readOnly === undefined || readOnly === isReadOnly);
}

/**
 * Returns whether a call of a tool needs the user's approval. Tools that match both filters need it. Tools that match no filter
 * need it too, unless only the `always` filter exists.
 */
function needsApproval(tool: RemoteToolTraits, approval: NonNullable<McpTool['require_approval']>): boolean {
  if (typeof approval === 'string') return approval === 'always';
  const { always, never } = approval;
  if (always !== undefined && matchesFilter(tool, always)) return true;
  return never === undefined ? always === undefined : !matchesFilter(tool, never);
}

/** Returns a filter for the tools of a server. `allowed_tools` may exclude the server or some of its tools. */
function createAllowedFilter(
  { server_label: label }: McpTool,
  choice: ResponsesRequest['tool_choice'],
): (name: string) => boolean {
  if (typeof choice !== 'object' || choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return () => true;
  const ownTools = choice.tools.filter((tool) => isJsonObject(tool) && tool.type === 'mcp' && tool.server_label === label);
  return (name) => ownTools.some((tool) => (tool.name ?? name) === name);
}

/** A user's answer to an approval request. */
interface Answer {
  readonly approve: boolean;
  readonly reason: string;
  /** Whether the answer is part of this request. */
  readonly isNew: boolean;
}

const unansweredText = 'The call was not made, because the user has neither allowed nor rejected it.';
const noResultText = 'The call was allowed. Its result is unknown.';

/** Approval requests for calls to MCP servers, and the users' answers. */
export class McpApprovals {
  readonly #requests = new Map<string, JsonObject>();
  readonly #answers = new Map<string, Answer>();
  /** IDs of approval requests whose call was run. */
  readonly #executedRequestIds = new Set<string>();

  /**
   * `earlierCount` is the number of items from earlier requests. Throws `invalid_request` for an answer without an approval
   * request.
   */
  constructor(
    items: readonly AnyItem[],
    { earlierCount, getPath }: { earlierCount: number; getPath: (item: AnyItem) => string },
  ) {
    items.forEach((rawItem, index) => {
      const item = rawItem as JsonObject;
      if (item.type === 'mcp_approval_request') this.#requests.set(String(item.id), item);
      else if (item.type === 'mcp_call' && typeof item.approval_request_id === 'string')
        this.#executedRequestIds.add(item.approval_request_id);
      else if (item.type === 'mcp_approval_response')
        this.#addAnswer(item, { isNew: index >= earlierCount, path: getPath(rawItem) });
    });
  }

  /**
   * Returns the output of the requested call for the model. `output` is undefined if the call must run now. Returns undefined if
   * the call was already run, because the conversation then contains its result.
   */
  find(requestId: string): { readonly output: string | undefined } | undefined {
    if (this.#executedRequestIds.has(requestId)) return undefined;
    const answer = this.#answers.get(requestId);
    if (answer === undefined) return { output: unansweredText };
    if (!answer.approve) return { output: `The user declined this call.${answer.reason === '' ? '' : ` ${answer.reason}`}` };
    return { output: answer.isNew ? undefined : noResultText };
  }

  /** Returns the calls to run now. Throws `invalid_request` if the request does not contain the server of a call. */
  listApprovedCalls(servers: readonly RemoteServer[], messages: readonly Message[]): ApprovedCall[] {
    const labels = new Set(servers.map(({ settings }) => settings.name));
    const callsById = new Map(messages.flatMap(getToolCalls).map((call) => [call.id, call]));
    return [...this.#requests].flatMap(([id, { server_label, name, arguments: args }]) => {
      const approval = this.find(id);
      if (approval === undefined || approval.output !== undefined) return [];
      const label = String(server_label);
      if (!labels.has(label))
        throw createRequestError(
          'tools',
          `must contain the MCP server ${JSON.stringify(label)}, because one of its calls was approved`,
        );
      return [
        {
          ...{ id, name: toMcpName(label, String(name)), arguments: String(args) },
          ...{ approvalRequest: id, otherFields: toSignature(callsById.get(id)) },
        },
      ];
    });
  }

  #addAnswer({ approval_request_id: id, approve, reason }: JsonObject, { isNew, path }: { isNew: boolean; path: string }): void {
    const requestId = String(id);
    if (!this.#requests.has(requestId) && isNew)
      throw createRequestError(
        `${path}.approval_request_id`,
        'does not refer to an earlier approval request. Also send the mcp_approval_request, or previous_response_id',
      );
    this.#answers.set(requestId, { approve: approve === true, reason: toText(reason), isNew });
  }
}

/** Returns the vendor's signature, which must be sent back with the call. */
function toSignature({ extra_content: signature }: { readonly extra_content?: unknown } = {}): JsonObject {
  return signature === undefined ? {} : { extra_content: signature };
}
