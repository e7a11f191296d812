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
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return { tools: offered, choice: toChoice(choice) };
  const allowed = isJsonObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  const names = Array.isArray(allowed.tools) ? allowed.tools.filter(isJsonObject).map(nameOf) : [];
  return { tools: offered.filter(({ tool }) => names.includes(nameOf(tool))), choice: toChoice(allowed.mode) };
}

function toChoice(choice: unknown): ChosenTools['choice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name = isJsonObject(choice) ? nameOf(choice) : undefined;
  return typeof name === 'string' ? { name } : undefined;
}

function nameOf(tool: JsonObject): unknown {
  return isJsonObject(tool.function) ? tool.function.name : tool.name;
}
