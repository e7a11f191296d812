import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { defaultMessagesTokens } from '#contract/configuration/protocols.ts';
import { toPlainMessages } from '#contract/content.ts';
import type { MessagesRequest } from '#contract/messages/dialect.ts';
import { fieldsSentAsTheyAre } from './request-fields.ts';
import { toThinking } from './to-thinking.ts';
import { toTooling } from './to-tools.ts';
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
