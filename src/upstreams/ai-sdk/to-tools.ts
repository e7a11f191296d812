import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { type ChosenTools, chosenTools, type OfferedTool } from '../prompt/chosen-tools.ts';
import { refusal } from '../prompt/refusal.ts';

type Tooling = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

/**
 * The tools offered and how they may be used, without those that another vendor runs. Throws UpstreamFault 400 for a custom
 * tool, and if the request demands a call of a tool that is left out.
 */
export function toTooling(request: ChatRequest): Tooling {
  const { tools: all, choice } = chosenTools(request);
  const tools = all.filter(({ tool }) => !isOfVendor(tool));
  if (tools.length < all.length) checkChoice(choice, all, tools);
  if (tools.length === 0) return {};
  return { tools: tools.map(toTool), ...(choice !== undefined && { toolChoice: toToolChoice(choice) }) };
}

/** Returns the names of tools that another vendor runs, such as `tools.web_search_20250305`. */
export function vendorTools({ tools }: ChatRequest): string[] {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return list.filter(isJsonObject).flatMap((tool) => (isOfVendor(tool) ? [`tools.${tool.type}`] : []));
}

function isOfVendor({ type }: JsonObject): boolean {
  return typeof type === 'string' && type !== 'function' && type !== 'custom';
}

function checkChoice(choice: ChosenTools['choice'], all: readonly OfferedTool[], tools: readonly OfferedTool[]): void {
  if (choice === 'required' && tools.length === 0)
    throw refusal('a demand for a call of tools that another vendor runs', 'tool_choice');
  if (typeof choice !== 'object') return;
  const forced = all.find(({ tool }) => isOfVendor(tool) && tool.name === choice.name);
  if (forced !== undefined) throw refusal(`a tool of the type ${String(forced.tool.type)}`, 'tool_choice');
}

function toTool({ tool, position }: OfferedTool): LanguageModelV4FunctionTool {
  const { type, function: offer } = tool;
  if (!isJsonObject(offer) || typeof offer.name !== 'string')
    throw refusal(`a tool of the type ${String(type)}`, `tools[${position}]`);
  const { name, description, parameters, strict } = offer;
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    inputSchema: { type: 'object', ...(isJsonObject(parameters) ? parameters : {}) },
    ...(typeof strict === 'boolean' && { strict }),
  };
}

function toToolChoice(choice: NonNullable<ChosenTools['choice']>): LanguageModelV4ToolChoice {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };
}
