import { filterObjects, isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { createUnsupportedError } from '#domain/upstreams/upstream-error.ts';

/** An entry of `tools` with its index. */
export interface OfferedTool {
  readonly tool: JsonObject;
  readonly position: number;
}

export interface SelectedTools {
  readonly tools: readonly OfferedTool[];
  /** A name means that this tool must be called. Undefined if the request has no choice. */
  readonly choice: 'auto' | 'none' | 'required' | { readonly name: string } | undefined;
}

/** Returns the tools of a request that the model may see, and how it may use them. */
export function selectTools({ tools, tool_choice: choice }: ChatRequest): SelectedTools {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const offeredTools = list.flatMap((tool, position) => (isJsonObject(tool) ? [{ tool, position }] : []));
  const allowed = findAllowedTools(choice);
  if (allowed === undefined) return { tools: offeredTools, choice: toChoice(choice) };
  return { tools: offeredTools.filter(({ tool }) => allowed.names.has(getName(tool))), choice: toChoice(allowed.mode) };
}

/** Returns whether a vendor runs a tool. Clients run functions and custom tools. */
export function isServerTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && type !== 'function' && type !== 'custom';
}

/** Returns the names of the tools that another vendor runs, such as `tools.web_search_20250305`. */
export function listForeignTools({ tools }: ChatRequest, isForeign: (tool: JsonObject) => boolean): string[] {
  return filterObjects(tools).flatMap((tool) => (isForeign(tool) ? [`tools.${tool.type}`] : []));
}

/** Omits the tools that another vendor runs. Throws `UpstreamError` 400 if the request requires a call of an omitted tool. */
export function omitForeignTools({ tools, choice }: SelectedTools, isForeign: (tool: JsonObject) => boolean): SelectedTools {
  const remaining = tools.filter(({ tool }) => !isForeign(tool));
  if (remaining.length === tools.length) return { tools, choice };
  if (choice === 'required' && remaining.length === 0)
    throw createUnsupportedError('a tool_choice that requires a server-side tool of another vendor', 'tool_choice');
  const forced = typeof choice === 'object' && tools.find(({ tool }) => isForeign(tool) && tool.name === choice.name);
  if (forced) throw createUnsupportedError(`a tool of the type ${String(forced.tool.type)}`, 'tool_choice');
  return { tools: remaining, choice };
}

/** Returns the names of the tools that a reply may call. Undefined if `tool_choice` sets no hard limit. */
export function findCallableNames({
  tool_choice: choice,
  function_call: legacyChoice,
}: ChatRequest): ReadonlySet<unknown> | undefined {
  return choice === 'none' || legacyChoice === 'none' ? new Set() : findAllowedTools(choice)?.names;
}

function findAllowedTools(choice: unknown): { readonly names: ReadonlySet<unknown>; readonly mode: unknown } | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined;
  const { tools, mode } = isJsonObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  return { names: new Set(filterObjects(tools).map(getName)), mode };
}

function toChoice(choice: unknown): SelectedTools['choice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name = isJsonObject(choice) ? getName(choice) : undefined;
  return typeof name === 'string' ? { name } : undefined;
}

function getName(tool: JsonObject): unknown {
  if (isJsonObject(tool.function)) return tool.function.name;
  return isJsonObject(tool.custom) ? tool.custom.name : tool.name;
}
