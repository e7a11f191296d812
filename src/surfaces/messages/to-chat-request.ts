import { hash } from 'node:crypto';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Message } from '#contract/chat/message.ts';
import type { MessagesRequest, ToolChoice, ToolOffer } from '#contract/messages/dialect.ts';
import type { CountRequest } from '#contract/messages/messages-request.ts';
import { type ToolNames, type TranslationContext, toMessages, toSystemMessage } from './to-messages.ts';
import type { UpstreamCapabilities } from './unsupported-fields.ts';

/** Maximum number of thinking tokens for each effort. Larger budgets are `high`. */
const effortByBudget = [
  [4_096, 'low'],
  [16_384, 'medium'],
] as const;
const efforts: ReadonlySet<unknown> = new Set(['low', 'medium', 'high']);

/** Maximum length of a user ID in the OpenAI API. Clients of the Messages API send longer IDs, such as JSON documents. */
const maxUserLength = 64;

/**
 * Converts a validated request of the Messages API to a chat completions request. Omits fields without a counterpart, which
 * `findUnsupported` reports.
 */
export function toChatRequest(body: CountRequest, translation: TranslationContext): ChatRequest {
  const { names, capabilities } = translation;
  const { system, messages, stream, temperature, top_p, stop_sequences: stop } = body;
  const effort = toEffort(body);
  const user = body.metadata?.user_id;
  return {
    messages: [...toSystem(system, capabilities), ...toMessages(messages, translation)],
    ...(stream !== undefined && { stream }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(stop !== undefined && stop.length > 0 && { stop }),
    ...(typeof user === 'string' && { user: toUser(user) }),
    ...toTokenLimit(body.max_tokens, effort),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...toFormat(body.output_config?.format),
    ...toTools(body, names),
    ...(capabilities.acceptsThinking && toThinkingFields(body, effort)),
  };
}

function toSystem(system: MessagesRequest['system'], { acceptsCacheControl }: UpstreamCapabilities): Message[] {
  if (typeof system === 'string') return system === '' ? [] : [{ role: 'system', content: system }];
  const message = toSystemMessage(system ?? [], acceptsCacheControl);
  return message.content === '' ? [] : [message];
}

function toUser(id: string): string {
  return id.length > maxUserLength ? hash('sha256', id, 'hex') : id;
}

/**
 * Returns fields that models of several vendors support under the names of the Messages API. An explicit effort takes precedence
 * over adaptive thinking.
 */
function toThinkingFields({ top_k, thinking }: CountRequest, effort: string | undefined): Partial<ChatRequest> {
  const { type, budget_tokens } = thinking ?? {};
  return {
    ...(top_k !== undefined && { top_k }),
    ...(type === 'enabled' && budget_tokens !== undefined && { thinking: { type, budget_tokens } }),
    ...((type === 'disabled' || (type === 'adaptive' && effort === undefined)) && { thinking: { type } }),
  };
}

/** Converts `max_tokens`. Models with a reasoning effort accept the limit only under its newer name. */
function toTokenLimit(maxTokens: unknown, effort: string | undefined): Partial<ChatRequest> {
  if (typeof maxTokens !== 'number') return {};
  const limit = Math.max(1, maxTokens);
  return effort === undefined ? { max_tokens: limit } : { max_completion_tokens: limit };
}

function toEffort({ thinking, output_config }: CountRequest): string | undefined {
  if (thinking?.type === 'disabled') return undefined;
  const requestedEffort = output_config?.effort;
  if (typeof requestedEffort === 'string') return efforts.has(requestedEffort) ? requestedEffort : 'high';
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : undefined;
  if (budget === undefined) return undefined;
  return effortByBudget.find(([maxBudget]) => budget <= maxBudget)?.[1] ?? 'high';
}

type Format = NonNullable<MessagesRequest['output_config']>['format'];

function toFormat(format: Format): Partial<ChatRequest> {
  if (format?.type !== 'json_schema') return {};
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } } };
}

/** Converts tools that the client runs. Tools that the upstream runs have no schema and no counterpart. */
function toTools({ tools = [], tool_choice: choice }: CountRequest, names: ToolNames): Partial<ChatRequest> {
  const functionTools = tools.filter(({ input_schema }) => input_schema !== undefined).map((tool) => toTool(tool, names));
  if (functionTools.length === 0) return {};
  return {
    tools: functionTools,
    ...(choice && { tool_choice: toToolChoice(choice, names) }),
    ...(choice?.disable_parallel_tool_use && { parallel_tool_calls: false }),
  };
}

function toTool({ name, description, input_schema: parameters, strict }: ToolOffer, names: ToolNames): object {
  return {
    type: 'function',
    function: {
      name: names.shorten(name),
      ...(description !== undefined && { description }),
      parameters,
      ...(typeof strict === 'boolean' && { strict }),
    },
  };
}

function toToolChoice({ type, name = '' }: ToolChoice, names: ToolNames): unknown {
  if (type === 'tool') return { type: 'function', function: { name: names.shorten(name) } };
  return type === 'any' ? 'required' : type;
}
