import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { requestFault } from '#contract/request-fault.ts';
import type { AdditionalTools, AnyItem } from '#contract/responses/input-items.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import { isMcpTool, isOtherTool, type ResponsesTool } from '#contract/responses/tools.ts';
import { toMcpName } from './mcp-servers.ts';
import { OfferedTools } from './offered-tools.ts';

/** The tools of a request as the compat wire takes them. */
export interface ChatTools {
  readonly offered: OfferedTools;
  readonly fields: Partial<ChatRequest>;
  /** Names of what is left out, such as `tools.web_search`. */
  readonly ignored: readonly string[];
}

/** All tools of a request: those that stand in its input count too. */
export function toolsOf({ tools = [] }: Pick<ResponsesRequest, 'tools'>, items: readonly AnyItem[]): readonly ResponsesTool[] {
  const added = items.filter((item): item is AdditionalTools => item.type === 'additional_tools');
  return added.length === 0 ? tools : [...tools, ...added.flatMap((item) => item.tools)];
}

/** Throws invalid_request for a choice that cannot be kept to, unless an upstream of the dialect may be asked. */
export function toChatTools(request: ResponsesRequest, tools: readonly ResponsesTool[], isNative: boolean): ChatTools {
  const runsRemote = tools.some(isMcpTool);
  const offered = new OfferedTools();
  for (const tool of tools) offered.add(tool);
  const left = tools.filter(isOtherTool).map(({ type }) => `tools.${type}`);
  const allowed = isNative && isOthers(request.tool_choice, left) ? {} : toAllowed(request.tool_choice, offered);
  if (allowed.names !== undefined) offered.restrictTo(allowed.names);
  const offers = [...offered.all].filter(([name]) => offered.isAllowed(name)).map(([, { offer }]) => offer);
  if (offers.length === 0 && !runsRemote) {
    if (!isNative && allowed.choice !== undefined && allowed.choice !== 'auto' && allowed.choice !== 'none')
      throw requestFault('tool_choice', 'asks for a call, and none of the tools can be called by this deployment');
    return { offered, fields: {}, ignored: left };
  }
  const { parallel_tool_calls } = request;
  return {
    offered,
    fields: {
      ...(offers.length > 0 && { tools: offers }),
      ...(allowed.choice !== undefined && { tool_choice: allowed.choice }),
      ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    },
    ignored: left,
  };
}

/** Whether a choice is among tools that the upstream itself knows. */
function isOthers(choice: ResponsesRequest['tool_choice'], others: readonly string[]): boolean {
  if (typeof choice !== 'object' || choice.type === 'allowed_tools') return false;
  return others.length > 0 || !['function', 'custom'].includes(choice.type);
}

interface Allowed {
  readonly choice?: unknown;
  /** Names on the compat wire; absent: all. */
  readonly names?: ReadonlySet<string>;
}

function toAllowed(choice: ResponsesRequest['tool_choice'], offered: OfferedTools): Allowed {
  if (choice === undefined || typeof choice === 'string') return { choice };
  if (choice.type === 'allowed_tools') return toAllowedTools(choice, offered);
  if (choice.type === 'mcp') return { choice: toMcpChoice(choice) };
  const name = nameOf(choice, offered, 'tool_choice');
  return { choice: { type: 'function', function: { name } } };
}

/** A server as a whole cannot be forced: any tool is. */
function toMcpChoice({ server_label: label, name }: JsonObject): unknown {
  if (typeof name !== 'string') return 'required';
  return { type: 'function', function: { name: toMcpName(String(label), name) } };
}

function toAllowedTools({ mode = 'auto', tools }: JsonObject, offered: OfferedTools): Allowed {
  if (mode !== 'auto' && mode !== 'required') throw requestFault('tool_choice.mode', 'must be "auto" or "required"');
  if (!Array.isArray(tools) || tools.length === 0) throw requestFault('tool_choice.tools', 'must name at least one tool');
  const named = tools.flatMap((tool, index) => {
    const at = `tool_choice.tools[${index}]`;
    if (!isJsonObject(tool)) throw requestFault(at, 'must be an object');
    if (tool.type === 'namespace') return namesIn(tool, offered, at);
    return tool.type === 'function' || tool.type === 'custom' ? [nameOf(tool, offered, at)] : [];
  });
  return { choice: mode, names: new Set(named) };
}

function namesIn({ name }: JsonObject, offered: OfferedTools, at: string): string[] {
  const names = [...offered.all].filter(([, { namespace }]) => namespace === name).map(([flatName]) => flatName);
  if (names.length === 0) throw requestFault(`${at}.name`, 'must be the name of one of the tools');
  return names;
}

function nameOf({ type, name, namespace }: JsonObject, offered: OfferedTools, at: string): string {
  if (type !== 'function' && type !== 'custom')
    throw requestFault(`${at}.type`, `is ${JSON.stringify(type)}, which this deployment cannot call`);
  const flatName = offered.offeredAs(String(name), typeof namespace === 'string' ? namespace : undefined);
  if (flatName === undefined) throw requestFault(`${at}.name`, 'must be the name of one of the tools');
  return flatName;
}
