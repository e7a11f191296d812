import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainMessages } from '#contract/chat/content.ts';
import { defaultMessagesTokens } from '#contract/configuration/protocols.ts';
import type { MessageParam, MessagesRequest, ToolChoice, ToolOffer } from '#contract/messages/dialect.ts';
import { type ChosenTools, chosenTools } from '../prompt/chosen-tools.ts';
import { decidesItself, isEffort, toBudget } from '../prompt/claude-thinking.ts';
import { fieldsSentAsTheyAre } from './request-fields.ts';
import { toConversation } from './to-turns.ts';

/** What is known of the model beside the request. */
export interface ModelFacts {
  /** The upstream's own name. */
  readonly model: string;
  /** Tokens a reply may have; undefined if the configuration does not say. */
  readonly maxCompletionTokens: number | undefined;
}

/**
 * A chat request in the Messages dialect; `requestFields` says what becomes of each field. Throws UpstreamFault 400 for
 * content that the dialect does not have.
 */
export function toMessagesRequest(given: ChatRequest, facts: ModelFacts): MessagesRequest {
  const request = toPlainMessages(given);
  const { model } = facts;
  const { system, messages } = toConversation(request.messages);
  const maxTokens = toMaxTokens(request, facts);
  const tooling = toTooling(request, messages);
  const mustCall = tooling.tool_choice?.type === 'any' || tooling.tool_choice?.type === 'tool';
  const deliberation = toThinking(request, { model, maxTokens, messages, mustCall });
  const own = fieldsSentAsTheyAre(request);
  const { thinking = own.thinking } = deliberation;
  return {
    ...own,
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system: [...system] }),
    messages,
    ...tooling,
    ...toSampling(request, isJsonObject(thinking) && thinking.type !== 'disabled'),
    ...toStop(request),
    ...toIdentity(request),
    ...deliberation,
    ...toOutputConfig(request, deliberation),
  };
}

function toMaxTokens(request: ChatRequest, { maxCompletionTokens }: ModelFacts): number {
  const { max_completion_tokens: asked } = request;
  return (typeof asked === 'number' ? asked : request.max_tokens) ?? maxCompletionTokens ?? defaultMessagesTokens;
}

/** The dialect bounds the temperature by 1, and its newer models take either value but not both; thinking goes with neither. */
function toSampling({ temperature: given, top_p }: ChatRequest, thinks: boolean): Partial<MessagesRequest> {
  if (thinks) return {};
  const temperature = given === undefined ? undefined : Math.min(given, 1);
  if (temperature !== undefined && (temperature !== 1 || (top_p ?? 1) === 1)) return { temperature };
  return top_p === undefined ? {} : { top_p };
}

function toStop({ stop }: ChatRequest): Partial<MessagesRequest> {
  const sequences = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => sequence.trim() !== '');
  return sequences.length === 0 ? {} : { stop_sequences: sequences };
}

function toIdentity(request: ChatRequest): Partial<MessagesRequest> {
  const { metadata, service_tier: tier } = request;
  const given = isJsonObject(metadata) ? metadata.user_id : undefined;
  const user = [given, request.user, request.safety_identifier].find((id) => typeof id === 'string');
  const service_tier = tier === 'default' ? 'standard_only' : tier;
  return {
    ...(user !== undefined && { metadata: { user_id: String(user) } }),
    ...((service_tier === 'auto' || service_tier === 'standard_only') && { service_tier }),
  };
}

/** The request's own settings win over those made of other fields. */
function toOutputConfig(request: ChatRequest, { output_config: made }: Partial<MessagesRequest>): Partial<MessagesRequest> {
  const { response_format: format, output_config: own } = request;
  const described = isJsonObject(format) && format.type === 'json_schema' ? format.json_schema : undefined;
  const schema = isJsonObject(described) && isJsonObject(described.schema) ? described.schema : undefined;
  const config = {
    ...made,
    ...(schema && { format: { type: 'json_schema' as const, schema } }),
    ...(isJsonObject(own) && own),
  };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

type ThinkingFields = Pick<MessagesRequest, 'thinking' | 'output_config'>;

/** The dialect's own words for efforts it calls otherwise. */
const renamed: ReadonlyMap<unknown, string> = new Map([['minimal', 'low']]);

interface ThinkingContext {
  readonly model: string;
  readonly maxTokens: number;
  readonly messages: readonly MessageParam[];
  /** Whether a call of a tool is demanded, which rules out thinking. */
  readonly mustCall: boolean;
}

/** `reasoning_effort` as thinking: a Claude of 4.6 or later gets the effort, other models get a budget of tokens. */
function toThinking(request: ChatRequest, context: ThinkingContext): ThinkingFields {
  const { reasoning_effort: effort } = request;
  if ((request.thinking ?? null) !== null || !(effort === 'none' || isEffort(effort))) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (context.mustCall || hasThoughtlessCall(context.messages)) return {};
  if (decidesItself(context.model))
    return { thinking: { type: 'adaptive' }, output_config: { effort: renamed.get(effort) ?? String(effort) } };
  const budget = toBudget(effort, context.maxTokens);
  return budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Whether the turn that goes on has calls without the thoughts that led to them: the dialect then refuses to think. */
function hasThoughtlessCall(messages: readonly MessageParam[]): boolean {
  for (const { role, content } of messages.toReversed()) {
    const types = typeof content === 'string' ? ['text'] : content.map(({ type }) => type);
    if (role === 'user' && !types.includes('tool_result')) return false;
    if (role === 'assistant' && types.includes('tool_use') && !types[0]?.endsWith('thinking')) return true;
  }
  return false;
}

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
