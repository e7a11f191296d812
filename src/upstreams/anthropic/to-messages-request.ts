import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { toPlainRequest } from '#contract/chat/content.ts';
import { defaultMessagesTokens } from '#contract/configuration/protocols.ts';
import type { MessageParam, MessagesRequest, ToolChoice, ToolOffer } from '#contract/messages/dialect.ts';
import { computeThinkingBudget, isThinkingEffort, usesAdaptiveThinking } from '../prompt/claude-thinking.ts';
import { isServerTool, omitForeignTools, type SelectedTools, selectTools } from '../prompt/select-tools.ts';
import { pickSentFields } from './request-fields.ts';
import { toConversation } from './to-turns.ts';

/** The model of the upstream and its limit. */
export interface ModelContext {
  /** The upstream's model name. */
  readonly model: string;
  /** Maximum number of tokens in a reply. Undefined if it is not configured. */
  readonly maxCompletionTokens: number | undefined;
}

/**
 * Converts a chat request to the Messages dialect. `requestFields` defines how each field is handled. Throws
 * `UpstreamError` with the status 400 for content that the dialect does not support.
 */
export function toMessagesRequest(input: ChatRequest, context: ModelContext): MessagesRequest {
  const request = toPlainRequest(input);
  const { model } = context;
  const { system, messages } = toConversation(request.messages);
  const maxTokens = toMaxTokens(request, context);
  const toolFields = toToolFields(request, messages);
  const mustCall = toolFields.tool_choice?.type === 'any' || toolFields.tool_choice?.type === 'tool';
  const thinkingFields = toThinking(request, { model, maxTokens, messages, mustCall });
  const sentFields = pickSentFields(request);
  const { thinking = sentFields.thinking } = thinkingFields;
  return {
    ...sentFields,
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system: [...system] }),
    messages,
    ...toolFields,
    ...toSampling(request, isJsonObject(thinking) && thinking.type !== 'disabled'),
    ...toStop(request),
    ...toIdentity(request),
    ...thinkingFields,
    ...toOutputConfig(request, thinkingFields),
  };
}

function toMaxTokens(request: ChatRequest, { maxCompletionTokens }: ModelContext): number {
  const { max_completion_tokens: requestedTokens } = request;
  return (
    (typeof requestedTokens === 'number' ? requestedTokens : request.max_tokens) ?? maxCompletionTokens ?? defaultMessagesTokens
  );
}

/**
 * Limits the temperature to 1, the maximum of the dialect. Newer models accept `temperature` or `top_p`, but not both. With
 * thinking, models accept neither.
 */
function toSampling({ temperature: requestedTemperature, top_p }: ChatRequest, hasThinking: boolean): Partial<MessagesRequest> {
  if (hasThinking) return {};
  const temperature = requestedTemperature === undefined ? undefined : Math.min(requestedTemperature, 1);
  if (temperature !== undefined && (temperature !== 1 || (top_p ?? 1) === 1)) return { temperature };
  return top_p === undefined ? {} : { top_p };
}

function toStop({ stop }: ChatRequest): Partial<MessagesRequest> {
  const sequences = (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((sequence) => sequence.trim() !== '');
  return sequences.length === 0 ? {} : { stop_sequences: sequences };
}

function toIdentity(request: ChatRequest): Partial<MessagesRequest> {
  const { metadata, service_tier: tier } = request;
  const user = [toObject(metadata).user_id, request.user, request.safety_identifier].find((id) => typeof id === 'string');
  const service_tier = tier === 'default' ? 'standard_only' : tier;
  return {
    ...(user !== undefined && { metadata: { user_id: String(user) } }),
    ...((service_tier === 'auto' || service_tier === 'standard_only') && { service_tier }),
  };
}

/** The request's own settings replace those derived from other fields. */
function toOutputConfig(
  request: ChatRequest,
  { output_config: derivedConfig }: Partial<MessagesRequest>,
): Partial<MessagesRequest> {
  const { response_format: format, output_config: requestedConfig } = request;
  const described = isJsonObject(format) && format.type === 'json_schema' ? format.json_schema : undefined;
  const schema = isJsonObject(described) && isJsonObject(described.schema) ? described.schema : undefined;
  const config = {
    ...derivedConfig,
    ...(schema && { format: { type: 'json_schema' as const, schema } }),
    ...(isJsonObject(requestedConfig) && requestedConfig),
  };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

type ThinkingFields = Pick<MessagesRequest, 'thinking' | 'output_config'>;

/** Efforts that have another name in the dialect. */
const renamedEfforts: ReadonlyMap<unknown, string> = new Map([['minimal', 'low']]);

interface ThinkingContext {
  readonly model: string;
  readonly maxTokens: number;
  readonly messages: readonly MessageParam[];
  /** Whether the model must call a tool, which rules out thinking. */
  readonly mustCall: boolean;
}

/** Converts `reasoning_effort`. Claude 4.6 and later models get the effort. Other models get a token budget. */
function toThinking(request: ChatRequest, context: ThinkingContext): ThinkingFields {
  const { reasoning_effort: effort } = request;
  if ((request.thinking ?? null) !== null || !(effort === 'none' || isThinkingEffort(effort))) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (context.mustCall || hasCallWithoutThinking(context.messages)) return {};
  if (usesAdaptiveThinking(context.model))
    return { thinking: { type: 'adaptive' }, output_config: { effort: renamedEfforts.get(effort) ?? String(effort) } };
  const budget = computeThinkingBudget(effort, context.maxTokens);
  return budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Returns whether the current turn has calls without thoughts before them. The dialect then rejects thinking. */
function hasCallWithoutThinking(messages: readonly MessageParam[]): boolean {
  for (const { role, content } of messages.toReversed()) {
    const types = typeof content === 'string' ? ['text'] : content.map(({ type }) => type);
    if (role === 'user' && !types.includes('tool_result')) return false;
    if (role === 'assistant' && types.includes('tool_use') && !types[0]?.endsWith('thinking')) return true;
  }
  return false;
}

/** Types of tools that Anthropic runs or defines, such as `web_search_20250305`. */
const anthropicToolType = /_\d{8}$|^mcp_toolset$|^tool_search_tool/;

/** Returns whether another vendor runs a tool. */
export function isForeignTool(tool: JsonObject): boolean {
  return isServerTool(tool) && !anthropicToolType.test(String(tool.type));
}

type ToolFields = Pick<MessagesRequest, 'tools' | 'tool_choice'>;

/**
 * Returns the tools and the tool choice. The dialect requires tools if the conversation has calls, even if the model may not
 * call any. In that case the called tools are offered with the choice `none`.
 */
export function toToolFields(request: ChatRequest, messages: readonly MessageParam[]): ToolFields {
  const { tools, choice: requestedChoice } = omitForeignTools(selectTools(request), isForeignTool);
  if (tools.length === 0) {
    const names = listCalledNames(messages);
    return names.length === 0
      ? {}
      : { tools: names.map((name) => ({ name, input_schema: anySchema })), tool_choice: { type: 'none' } };
  }
  const choice = toToolChoice(requestedChoice);
  const isSerial = request.parallel_tool_calls === false && choice?.type !== 'none';
  const tool_choice = isSerial ? { type: 'auto' as const, ...choice, disable_parallel_tool_use: true } : choice;
  return { tools: tools.map(({ tool }) => toOffer(tool)), ...(tool_choice && { tool_choice }) };
}

const anySchema = { type: 'object' };

function toToolChoice(choice: SelectedTools['choice']): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice === 'required') return { type: 'any' };
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name };
}

/** Converts a function to the form of the dialect. Other tools are already in that form. */
function toOffer(tool: JsonObject): ToolOffer {
  const offer = tool.function;
  if (!isJsonObject(offer)) return tool as ToolOffer;
  const cacheControl = tool.cache_control ?? offer.cache_control;
  return {
    name: String(offer.name),
    ...(typeof offer.description === 'string' && { description: offer.description }),
    input_schema: { ...anySchema, ...toObject(offer.parameters) },
    ...(offer.strict === true && { strict: true }),
    ...(isJsonObject(cacheControl) && { cache_control: { type: 'ephemeral', ...cacheControl } }),
  };
}

function listCalledNames(messages: readonly MessageParam[]): string[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const names = blocks.flatMap((block) => (block.type === 'tool_use' ? [String(block.name)] : []));
  return [...new Set(names)];
}
