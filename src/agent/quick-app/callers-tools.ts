import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { HandsOut } from '../reply.ts';

/** The tools that a run hands to its caller: the client tools of its application, and those of the request in either form. */
export interface CallersTools {
  /** As a model is offered them. */
  readonly offered: readonly JsonObject[];
  /** A `tool_choice` that a model can follow in the first turn; undefined: the model is free. */
  readonly choice: unknown;
  /** A caller that sends `tools` is handed all calls at once as tool calls, any other the first one as a function call. */
  readonly handsOut: HandsOut;
  /** Fields of the request that have no effect, or not all of theirs. */
  readonly ignored: readonly string[];
}

/** What of the caller's tools a quick app offers its model. A caller can force a tool that it is handed, and none of those that the application runs. */
export function toCallersTools({ toolsets }: QuickApp, request: ChatRequest): CallersTools {
  const { functions, function_call: call, tools: given, tool_choice: choice } = request;
  const tools: readonly unknown[] = Array.isArray(given) ? given : [];
  const usable = tools.filter(isFunctionTool);
  const clients = toolsets.flatMap((toolset) => (toolset.kind === 'client' ? [toTool(toolset)] : []));
  const taken = new Set(clients.map(({ function: { name } }) => name));
  const own = [...(functions ?? []).map(toTool), ...usable].filter(({ function: { name } }) => !taken.has(name));
  const handed = call === 'none' || choice === 'none' ? [] : own;
  const offered = [...clients, ...handed];
  const forced = choice === 'required' && handed.length > 0 ? choice : toForced(call, choice, offered);
  const isFollowed = choice === undefined || choice === 'auto' || choice === 'none' || forced !== undefined;
  return {
    offered,
    choice: forced,
    handsOut: tools.length > 0 ? 'all tools' : 'one function',
    ignored: [...(usable.length < tools.length ? ['tools'] : []), ...(isFollowed ? [] : ['tool_choice'])],
  };
}

type FunctionTool = JsonObject & { readonly function: JsonObject & { readonly name: string } };

function isFunctionTool(tool: unknown): tool is FunctionTool {
  return isJsonObject(tool) && isJsonObject(tool.function) && typeof tool.function.name === 'string';
}

type Offer = NonNullable<ChatRequest['functions']>[number];

function toTool({ name, description = '', parameters = { type: 'object', properties: {} } }: Offer): FunctionTool {
  return { type: 'function', function: { name, description, parameters } };
}

function toForced(call: ChatRequest['function_call'], choice: unknown, offered: readonly FunctionTool[]): unknown {
  const forced = typeof call === 'object' ? call : isJsonObject(choice) ? choice.function : undefined;
  const tool = offered.find(({ function: { name } }) => isJsonObject(forced) && forced.name === name);
  return tool && { type: 'function', function: { name: tool.function.name } };
}

/** The fields of a request that a quick app does not hand to its model, since it is made with its own. */
export function ignoredByQuickApp(app: QuickApp, request: ChatRequest): string[] {
  const { temperature, addons = [] } = request;
  return [
    ...toCallersTools(app, request).ignored,
    ...(temperature !== undefined && temperature !== app.temperature ? ['temperature'] : []),
    ...(addons.length > 0 ? ['addons'] : []),
  ];
}
