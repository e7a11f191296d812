import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { MessageParam, MessagesRequest, ToolChoice, ToolOffer } from '#contract/messages/dialect.ts';
import { type ChosenTools, chosenTools } from '../prompt/chosen-tools.ts';

type Tooling = Pick<MessagesRequest, 'tools' | 'tool_choice'>;

/**
 * The tools offered and how they may be used. A conversation with calls in it needs tools even if the model may call
 * none any more: then those it called are offered, and calling is off.
 */
export function toTooling(request: ChatRequest, messages: readonly MessageParam[]): Tooling {
  const { tools, choice: asked } = chosenTools(request);
  if (tools.length === 0) {
    const names = calledNames(messages);
    return names.length === 0
      ? {}
      : { tools: names.map((name) => ({ name, input_schema: anything })), tool_choice: { type: 'none' } };
  }
  const choice = toToolChoice(asked);
  const isSerial = request.parallel_tool_calls === false && choice?.type !== 'none';
  const tool_choice = isSerial ? { type: 'auto' as const, ...choice, disable_parallel_tool_use: true } : choice;
  return { tools: tools.map(({ tool }) => toOffer(tool)), ...(tool_choice && { tool_choice }) };
}

const anything = { type: 'object' };

function toToolChoice(choice: ChosenTools['choice']): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice === 'required') return { type: 'any' };
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name };
}

/** A function in the form of the dialect; what is no function is the dialect's own already. */
function toOffer(tool: JsonObject): ToolOffer {
  const offer = tool.function;
  if (!isJsonObject(offer)) return tool as ToolOffer;
  const cached = tool.cache_control ?? offer.cache_control;
  return {
    name: String(offer.name),
    ...(typeof offer.description === 'string' && { description: offer.description }),
    input_schema: { ...anything, ...(isJsonObject(offer.parameters) ? offer.parameters : {}) },
    ...(offer.strict === true && { strict: true }),
    ...(isJsonObject(cached) && { cache_control: { type: 'ephemeral', ...cached } }),
  };
}

function calledNames(messages: readonly MessageParam[]): string[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const names = blocks.flatMap((block) => (block.type === 'tool_use' ? [String(block.name)] : []));
  return [...new Set(names)];
}
