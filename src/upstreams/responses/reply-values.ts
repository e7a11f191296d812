import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import type { Usage } from '#contract/chat/chunk.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toUsage as toChatUsage } from '#domain/usage/reported-usage.ts';
import { toCount } from '#domain/usage/usage.ts';
import { findNamedError, toReportedError } from '../find-error.ts';

const endTypes: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);
const openingTypes: ReadonlySet<unknown> = new Set(['response.created', 'response.queued', 'response.in_progress', 'keepalive']);

/**
 * Returns the value of an event, or the error that the event reports. An invalid event is an error. Returns undefined for an event
 * without data and for the end mark after the last event.
 */
export function toEventValue(event: string): JsonObject | UpstreamError | undefined {
  const namedError = findNamedError(event);
  if (namedError !== undefined) return namedError;
  const [data] = listEventData(event);
  if (data === undefined || data.trim() === '' || data.trim() === '[DONE]') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamError('broken', 'The upstream sent an event that is not a JSON object.');
  if (value.type === 'error') return toReportedError(value);
  return value.type === 'response.failed' ? toFailedError(value.response) : value;
}

/** Returns the error of a response that the upstream could not finish. */
export function toFailedError(response: unknown): UpstreamError {
  const error = isJsonObject(response) && isJsonObject(response.error) ? response.error : {};
  return toReportedError({ error });
}

/** Returns whether an event opens a response and has no part of it. */
export function isOpening({ type }: JsonObject): boolean {
  return openingTypes.has(type);
}

/** Returns whether an event ends a response. */
export function isEnd({ type }: JsonObject): boolean {
  return endTypes.has(type);
}

/** Returns whether the bytes of an event end a response. */
export function isEndMark(event: string): boolean {
  const value = toEventValue(event);
  return isJsonObject(value) && isEnd(value);
}

/** Converts a tool call of either type to the chat completions format. */
export function toCall({ type, call_id: id, name, arguments: args, input }: JsonObject): JsonObject {
  return type === 'custom_tool_call'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: args } };
}

/** Returns the log probabilities of the tokens, if the upstream reports them. */
export function toLogprobs(parts: readonly JsonObject[]): { readonly logprobs?: { readonly content: readonly unknown[] } } {
  const content = parts.flatMap(({ logprobs }) => (Array.isArray(logprobs) ? logprobs : []));
  return content.length > 0 ? { logprobs: { content } } : {};
}

/** Converts the token counts to usage in the chat completions format. Returns undefined if the upstream reports no counts. */
export function toUsage(reported: unknown): Usage | undefined {
  if (!isJsonObject(reported) || typeof reported.input_tokens !== 'number') return undefined;
  const input = toDetails(reported.input_tokens_details);
  const output = toDetails(reported.output_tokens_details);
  return toChatUsage({
    prompt_tokens: reported.input_tokens,
    completion_tokens: toCount(reported.output_tokens),
    total_tokens: reported.total_tokens,
    ...(input && { prompt_tokens_details: input }),
    ...(output && { completion_tokens_details: output }),
  });
}

function toDetails(details: unknown): JsonObject | undefined {
  return isJsonObject(details) ? details : undefined;
}
