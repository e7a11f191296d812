import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { type ChosenTools, chosenTools, type OfferedTool } from '../prompt/chosen-tools.ts';
import { refusal } from '../prompt/refusal.ts';

type Tooling = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

/** The tools offered and how they may be used. Throws UpstreamFault 400 for a tool that is no function. */
export function toTooling(request: ChatRequest): Tooling {
  const { tools, choice } = chosenTools(request);
  if (tools.length === 0) return {};
  return { tools: tools.map(toTool), ...(choice !== undefined && { toolChoice: toToolChoice(choice) }) };
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
