import type { ListedTool, RemoteDelta } from '#contract/chat/chunk.ts';
import { type Message, toolCallsOf } from '#contract/chat/message.ts';
import type { ApprovedCall, RemoteServer, RemoteToolFacts } from '#domain/tools/remote-server.ts';
import { type LoadedTools, type RemoteTool, type Tool, ToolFault } from '#domain/tools/tool.ts';
import type { LoadContext, ToolSources } from './quick-app/load-tools.ts';
import type { ToolCall, ToolMessage } from './turn.ts';

/** What the servers of a request gave. */
interface LoadedServers extends LoadedTools {
  readonly listed: readonly RemoteDelta[];
}

/** The tools of the servers that a request names; one that cannot be had is told as such, and the rest works. Rejects with the signal's reason only. */
export async function loadServers(
  servers: readonly RemoteServer[],
  { mcp }: Pick<ToolSources, 'mcp'>,
  context: LoadContext,
): Promise<LoadedServers> {
  const loaded = await Promise.all(servers.map((server) => loadServer(server, mcp, context)));
  return {
    tools: loaded.flatMap(({ tools }) => tools),
    missing: loaded.flatMap(({ missing }) => missing),
    listed: loaded.flatMap(({ listed }) => listed),
  };
}

async function loadServer(server: RemoteServer, mcp: ToolSources['mcp'], context: LoadContext): Promise<LoadedServers> {
  const { settings, isListed } = server;
  const { name: label } = settings;
  try {
    const { tools, missing } = await mcp(settings, context);
    const offered = tools.filter((tool) => server.isOffered(factsOf(tool)));
    const listed: RemoteDelta = { kind: 'listed', server: label, tools: offered.map(toListed), error: null };
    return { tools: offered.map((tool) => toRemote(tool, server)), missing, listed: isListed ? [listed] : [] };
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (!(thrown instanceof ToolFault)) throw thrown;
    const { message: reason } = thrown;
    return {
      tools: [],
      missing: [{ name: label, reason }],
      listed: [{ kind: 'listed', server: label, tools: [], error: reason }],
    };
  }
}

function factsOf({ name, annotations }: Tool): RemoteToolFacts {
  return { name, isReadOnly: annotations?.readOnlyHint === true };
}

function toListed({ name, description, parameters, annotations }: Tool): ListedTool {
  return { name, description, input_schema: parameters, annotations: annotations ?? null };
}

function toRemote(tool: Tool, { settings, description, needsApproval, toOfferedName }: RemoteServer): Tool {
  const { name } = tool;
  const remote: RemoteTool = { server: settings.name, name, needsApproval: needsApproval(factsOf(tool)) };
  return {
    ...tool,
    name: toOfferedName(name),
    description: description === '' ? tool.description : `${tool.description}\n\n${settings.name}: ${description}`.trimStart(),
    remote,
    async run(args, context) {
      const result = await tool.run(args, context);
      if (result.question === undefined) return result;
      throw new ToolFault(`${settings.name} wants an answer of the user first, which nobody can give here`);
    },
  };
}

/** The conversation with results directly behind the calls that they answer. */
export function withResults(messages: readonly Message[], results: readonly ToolMessage[]): Message[] {
  const all = [...messages];
  for (const result of results) {
    const asked = all.findIndex((message) => toolCallsOf(message).some(({ id }) => id === result.tool_call_id));
    let at = asked + 1;
    while (asked >= 0 && all[at]?.role === 'tool') at += 1;
    if (asked >= 0) all.splice(at, 0, result);
  }
  return all;
}

/** A call as it is told of a server. */
export function toRemoteCall({ id, function: asked, ...rest }: ToolCall, { server, name }: RemoteTool) {
  const { extra_content: signed } = rest as { extra_content?: unknown };
  return { id, server, name, arguments: asked.arguments, ...(signed !== undefined && { signed }) };
}

/** A call that was approved, as the model made it. */
export function toToolCall({ id, name, arguments: args, rest }: ApprovedCall): ToolCall {
  return { ...rest, id, type: 'function', function: { name, arguments: args } };
}
