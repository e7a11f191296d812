import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { QuickApp } from '#domain/quick-app/quick-app.ts';
import type { HandoverMode } from '../reply.ts';

/**
 * The tools that a run leaves to its client: the client tools of the application, and the tools and functions of the request.
 */
export interface ClientTools {
  /** Tool definitions for the model. */
  readonly offeredTools: readonly JsonObject[];
  /** The `tool_choice` of the first turn. If undefined, the model chooses freely. */
  readonly choice: unknown;
  /** Clients that send `tools` receive all calls as tool calls. Other clients receive the first call as a function call. */
  readonly handoverMode: HandoverMode;
  /** Request fields that are ignored, at least in part. */
  readonly ignored: readonly string[];
}

/**
 * Selects the client tools that a quick app offers its model. A client can force its own tools, but not those that the
 * application runs.
 */
export function createClientTools({ toolsets }: QuickApp, request: ChatRequest): ClientTools {
  const { functions, function_call: call, tools: requestTools, tool_choice: choice } = request;
  const tools: readonly unknown[] = Array.isArray(requestTools) ? requestTools : [];
  const usableTools = tools.filter(isFunctionTool);
  const applicationTools = toolsets.flatMap((toolset) => (toolset.kind === 'client' ? [toFunctionTool(toolset)] : []));
  const applicationToolNames = new Set(applicationTools.map(({ function: { name } }) => name));
  const additionalTools = [...(functions ?? []).map(toFunctionTool), ...usableTools].filter(
    ({ function: { name } }) => !applicationToolNames.has(name),
  );
  const enabledTools = call === 'none' || choice === 'none' ? [] : additionalTools;
  const offeredTools = [...applicationTools, ...enabledTools];
  const forced = choice === 'required' && enabledTools.length > 0 ? choice : findForcedTool(call, choice, offeredTools);
  const isChoiceApplied = choice === undefined || choice === 'auto' || choice === 'none' || forced !== undefined;
  return {
    offeredTools,
    choice: forced,
    handoverMode: tools.length > 0 ? 'all tools' : 'one function',
    ignored: [...(usableTools.length < tools.length ? ['tools'] : []), ...(isChoiceApplied ? [] : ['tool_choice'])],
  };
}

type FunctionTool = JsonObject & { readonly function: JsonObject & { readonly name: string } };

function isFunctionTool(tool: unknown): tool is FunctionTool {
  return isJsonObject(tool) && isJsonObject(tool.function) && typeof tool.function.name === 'string';
}

type OfferedFunction = NonNullable<ChatRequest['functions']>[number];

function toFunctionTool({
  name,
  description = '',
  parameters = { type: 'object', properties: {} },
}: OfferedFunction): FunctionTool {
  return { type: 'function', function: { name, description, parameters } };
}

function findForcedTool(call: ChatRequest['function_call'], choice: unknown, offeredTools: readonly FunctionTool[]): unknown {
  const forced = typeof call === 'object' ? call : isJsonObject(choice) ? choice.function : undefined;
  const tool = offeredTools.find(({ function: { name } }) => isJsonObject(forced) && forced.name === name);
  return tool && { type: 'function', function: { name: tool.function.name } };
}

/** Returns the request fields that a quick app ignores, at least in part. */
export function listIgnoredFields(app: QuickApp, request: ChatRequest): string[] {
  const { temperature, addons = [] } = request;
  return [
    ...createClientTools(app, request).ignored,
    ...(temperature !== undefined && temperature !== app.temperature ? ['temperature'] : []),
    ...(addons.length > 0 ? ['addons'] : []),
  ];
}
