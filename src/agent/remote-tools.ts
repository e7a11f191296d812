import type { ListedTool, RemoteDelta } from '#contract/chat/chunk.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';
import type { ApprovedCall, RemoteServer, RemoteToolTraits } from '#domain/tools/remote-server.ts';
import { type LoadedTools, type RemoteTool, type Tool, ToolError } from '#domain/tools/tool.ts';
import type { LoadContext, ToolSources } from './quick-app/load-tools.ts';
import type { ToolCall, ToolMessage } from './turn.ts';

/** The tools and deltas of a request's servers. */
interface LoadedServers extends LoadedTools {
  readonly serverDeltas: readonly RemoteDelta[];
}

/**
 * Loads the tools of the MCP servers that a request names. A server that is unavailable is listed in `missing` and in an error
 * delta for the client. Rejects with the reason of the signal, or with an error that is not a `ToolError`.
 */
export async function loadServers(
  servers: readonly RemoteServer[],
  { mcp }: Pick<ToolSources, 'mcp'>,
  context: LoadContext,
): Promise<LoadedServers> {
  const loaded = await Promise.all(servers.map((server) => loadServer(server, mcp, context)));
  return {
    tools: loaded.flatMap(({ tools }) => tools),
    missing: loaded.flatMap(({ missing }) => missing),
    serverDeltas: loaded.flatMap(({ serverDeltas }) => serverDeltas),
  };
}

async function loadServer(server: RemoteServer, mcp: ToolSources['mcp'], context: LoadContext): Promise<LoadedServers> {
  const { settings, isListed } = server;
  const { name: label } = settings;
  try {
    const { tools, missing } = await mcp(settings, context);
    const offeredTools = tools.filter((tool) => server.isOffered(getTraits(tool)));
    const listing: RemoteDelta = { kind: 'listed', server: label, tools: offeredTools.map(toListedTool), error: null };
    return { tools: offeredTools.map((tool) => toRemoteTool(tool, server)), missing, serverDeltas: isListed ? [listing] : [] };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof ToolError)) throw error;
    const { message: reason } = error;
    return {
      tools: [],
      missing: [{ name: label, reason }],
      serverDeltas: [{ kind: 'listed', server: label, tools: [], error: reason }],
    };
  }
}

function getTraits({ name, annotations }: Tool): RemoteToolTraits {
  return { name, isReadOnly: annotations?.readOnlyHint === true };
}

function toListedTool({ name, description, parameters, annotations }: Tool): ListedTool {
  return { name, description, input_schema: parameters, annotations: annotations ?? null };
}

function toRemoteTool(tool: Tool, { settings, description, needsApproval, toOfferedName }: RemoteServer): Tool {
  const { name } = tool;
  const remote: RemoteTool = { server: settings.name, name, needsApproval: needsApproval(getTraits(tool)) };
  return {
    ...tool,
    name: toOfferedName(name),
    description: description === '' ? tool.description : `${tool.description}\n\n${settings.name}: ${description}`.trimStart(),
    remote,
    async run(args, context) {
      const result = await tool.run(args, context);
      if (result.question === undefined) return result;
      throw new ToolError(`${settings.name} requires an answer of the user, which this call cannot request`);
    },
  };
}

/** Inserts results directly after the calls that they answer. */
export function insertResults(messages: readonly Message[], results: readonly ToolMessage[]): Message[] {
  const merged = [...messages];
  for (const result of results) {
    const callIndex = merged.findIndex((message) => getToolCalls(message).some(({ id }) => id === result.tool_call_id));
    let index = callIndex + 1;
    while (callIndex >= 0 && merged[index]?.role === 'tool') index += 1;
    if (callIndex >= 0) merged.splice(index, 0, result);
  }
  return merged;
}

/** Converts a model's call to the form of `custom_content.remote`, with the server and the tool's own name. */
export function toRemoteCall({ id, function: calledFunction, ...otherFields }: ToolCall, { server, name }: RemoteTool) {
  const { extra_content: signed } = otherFields as { extra_content?: unknown };
  return { id, server, name, arguments: calledFunction.arguments, ...(signed !== undefined && { signed }) };
}

/** Restores an approved call in the form that the model returned. */
export function toToolCall({ id, name, arguments: args, otherFields }: ApprovedCall): ToolCall {
  return { ...otherFields, id, type: 'function', function: { name, arguments: args } };
}
