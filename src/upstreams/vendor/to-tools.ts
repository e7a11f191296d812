import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { refusal } from './refusal.ts';

type Tooling = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

/** The tools offered and how they may be used. Throws UpstreamFault 400 for a tool that is no function. */
export function toTooling(request: ChatRequest): Tooling {
  const offered = Array.isArray(request.tools) ? request.tools.filter(isJsonObject) : [];
  const { tools, choice } = choose(offered.map(toTool), request.tool_choice);
  return tools.length === 0 ? {} : { tools, ...(choice && { toolChoice: choice }) };
}

function toTool(tool: JsonObject, position: number): LanguageModelV4FunctionTool {
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

interface Chosen {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly choice: LanguageModelV4ToolChoice | undefined;
}

function choose(tools: LanguageModelV4FunctionTool[], choice: unknown): Chosen {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return { tools, choice: toChoice(choice) };
  const allowed = isJsonObject(choice.allowed_tools) ? choice.allowed_tools : choice;
  const names = Array.isArray(allowed.tools) ? allowed.tools.filter(isJsonObject).map(nameOf) : [];
  return { tools: tools.filter(({ name }) => names.includes(name)), choice: toChoice(allowed.mode) };
}

function toChoice(choice: unknown): LanguageModelV4ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isJsonObject(choice)) return undefined;
  const name = nameOf(choice);
  return typeof name === 'string' ? { type: 'tool', toolName: name } : undefined;
}

function nameOf(tool: JsonObject): unknown {
  return isJsonObject(tool.function) ? tool.function.name : tool.name;
}
