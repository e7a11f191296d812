import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';

/** An entry of `tools`, and where it stands there. */
export interface OfferedTool {
  readonly tool: JsonObject;
  readonly position: number;
}

export interface ChosenTools {
  readonly tools: readonly OfferedTool[];
  /** That one and no other if it is a name; undefined if the request does not say. */
  readonly choice: 'auto' | 'none' | 'required' | { readonly name: string } | undefined;
}

/** The tools of a request that the model is to know of, and how it may use them. */
export function chosenTools({ tools, tool_choice: choice }: ChatRequest): ChosenTools {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const offered = list.flatMap((tool, position) => (isJsonObject(tool) ? [{ tool, position }] : []));
  const allowed = findAllowedTools(choice);
  if (allowed === undefined) return { tools: offered, choice: toChoice(choice) };
  return { tools: offered.filter(({ tool }) => allowed.names.has(nameOf(tool))), choice: toChoice(allowed.mode) };
}

/** Returns the names of the tools that a reply may call. Undefined if `tool_choice` sets no hard limit. */
export function findCallableNames({
  tool_choice: choice,
  function_call: oldChoice,
}: ChatRequest): ReadonlySet<unknown> | undefined {
  return choice === 'none' || oldChoice === 'none' ? new Set() : findAllowedTools(choice)?.names;
}

function findAllowedTools(choice: unknown): { readonly names: ReadonlySet<unknown>; readonly mode: unknown } | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined;
  const { tools, mode } = isJsonObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  return { names: new Set(Array.isArray(tools) ? tools.filter(isJsonObject).map(nameOf) : []), mode };
}

function toChoice(choice: unknown): ChosenTools['choice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name = isJsonObject(choice) ? nameOf(choice) : undefined;
  return typeof name === 'string' ? { name } : undefined;
}

function nameOf(tool: JsonObject): unknown {
  if (isJsonObject(tool.function)) return tool.function.name;
  return isJsonObject(tool.custom) ? tool.custom.name : tool.name;
}
