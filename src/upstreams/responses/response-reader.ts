import { isJsonObject, isNonEmptyText, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import type { Chunk, ChunkChoice, Delta, FinishReason, Usage } from '#contract/chat/chunk.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toUsage as toChatUsage } from '#domain/usage/reported-usage.ts';
import { toCount } from '#domain/usage/usage.ts';
import { findNamedError, toReportedError } from '../find-error.ts';
import { checkCallCount } from '../reply-calls.ts';

type Head = Pick<Chunk, 'id' | 'object' | 'created'> & { readonly model: string };

/**
 * Translates the events of one streamed response to chunks. Upstreams are not trusted: values of an unexpected form are
 * ignored.
 */
export class ResponseReader {
  #head: Head;
  #hasStarted = false;
  hasEnded = false;
  /** Indexes of calls, by the index of the item in the output or by the item ID. Some servers change the ID with each event. */
  readonly #calls = new Map<unknown, number>();
  readonly #callsWithArguments = new Set<number>();

  constructor(createdSeconds: number, model: string) {
    this.#head = { id: '', object: 'chat.completion.chunk', created: createdSeconds, model };
  }

  /** Returns the chunks for an event, in order. */
  readEvent(event: JsonObject): Chunk[] {
    switch (event.type) {
      case 'response.created':
        this.#start(event.response);
        return [];
      case 'response.output_text.delta':
        return isNonEmptyText(event.delta) ? this.#createChunks({ content: event.delta }, null, toLogprobs([event])) : [];
      case 'response.refusal.delta':
        return this.#createTextChunks({ refusal: event.delta });
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#createTextChunks({ reasoning_content: event.delta });
      case 'response.reasoning_summary_part.added':
        return event.summary_index === 0 ? [] : this.#createTextChunks({ reasoning_content: '\n\n' });
      case 'response.output_text.annotation.added':
        return this.#createAnnotationChunks(event.annotation);
      case 'response.output_item.added':
        return isJsonObject(event.item) ? this.#openCall(event, event.item) : [];
      case 'response.output_item.done':
        return isJsonObject(event.item) ? this.#endItem(event, event.item) : [];
      case 'response.function_call_arguments.delta':
        return this.#createArgumentsChunks(this.#calls.get(getItemKey(event)), event.delta);
      case 'response.function_call_arguments.done':
        return this.#completeArguments(this.#calls.get(getItemKey(event)), event.arguments);
      default:
        return isEnd(event) && isJsonObject(event.response) ? this.#end(event.response) : [];
    }
  }

  #start(response: unknown): void {
    if (!isJsonObject(response)) return;
    const { id, model, created_at: created } = response;
    this.#head = {
      ...this.#head,
      ...(isNonEmptyText(id) && { id }),
      ...(isNonEmptyText(model) && { model }),
      ...(typeof created === 'number' && { created: Math.floor(created) }),
    };
  }

  #openCall(event: JsonObject, { type, id, call_id, name }: JsonObject): Chunk[] {
    if (type !== 'function_call') return [];
    const index = this.#nextCall(getItemKey(event, id));
    const calledFunction = { name: isNonEmptyText(name) ? name : '', arguments: '' };
    return this.#createChunks({
      tool_calls: [{ index, ...(isNonEmptyText(call_id) && { id: call_id }), type: 'function', function: calledFunction }],
    });
  }

  /** The input of a custom tool is sent in one chunk, because consumers need the complete text. */
  #endItem(event: JsonObject, item: JsonObject): Chunk[] {
    const key = getItemKey(event, item.id);
    if (item.type === 'function_call') return this.#completeArguments(this.#calls.get(key), item.arguments);
    if (item.type !== 'custom_tool_call' || !isNonEmptyText(item.name) || typeof item.input !== 'string') return [];
    const index = this.#nextCall(key);
    return this.#createChunks({ tool_calls: [{ index, ...toCall(item) }] });
  }

  #nextCall(key: unknown): number {
    checkCallCount(this.#calls.size);
    const index = this.#calls.size;
    this.#calls.set(key, index);
    return index;
  }

  /** Sends the complete arguments if no part of them was sent. */
  #completeArguments(index: number | undefined, value: unknown): Chunk[] {
    if (index !== undefined && this.#callsWithArguments.has(index)) return [];
    return this.#createArgumentsChunks(index, isJsonObject(value) ? JSON.stringify(value) : value);
  }

  #createArgumentsChunks(index: number | undefined, json: unknown): Chunk[] {
    if (index === undefined || !isNonEmptyText(json)) return [];
    this.#callsWithArguments.add(index);
    return this.#createChunks({ tool_calls: [{ index, function: { arguments: json } }] });
  }

  #createAnnotationChunks(annotation: unknown): Chunk[] {
    if (!isJsonObject(annotation) || annotation.type !== 'url_citation') return [];
    const { type, ...url_citation } = annotation;
    return this.#createChunks({ annotations: [{ type, url_citation }] });
  }

  /** Sends the finish reason and the usage last, so that an incomplete reply does not look complete. */
  #end(response: JsonObject): Chunk[] {
    this.hasEnded = true;
    const usage = toUsage(response.usage);
    const endChunks = this.#createChunks({}, toFinishReason(response, this.#calls.size > 0));
    return usage === undefined ? endChunks : [...endChunks, { ...this.#head, choices: [], usage }];
  }

  #createTextChunks(delta: Delta): Chunk[] {
    return Object.values(delta).every(isNonEmptyText) ? this.#createChunks(delta) : [];
  }

  #createChunks(delta: Delta, finish_reason: FinishReason | null = null, extra: object = {}): Chunk[] {
    const createChunk = (choice: Pick<ChunkChoice, 'delta' | 'finish_reason'>): Chunk => {
      return { ...this.#head, choices: [{ index: 0, ...choice }] };
    };
    const role = { delta: { role: 'assistant', content: '' }, finish_reason: null } as const;
    const roleChunks = this.#hasStarted ? [] : [createChunk(role)];
    this.#hasStarted = true;
    return [...roleChunks, createChunk({ delta, finish_reason, ...extra })];
  }
}

function getItemKey({ output_index: index, item_id: id }: JsonObject, itemId = id): unknown {
  return index ?? itemId;
}

/** Returns the finish reason of a response in the chat completions format. */
export function toFinishReason({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): FinishReason {
  if (status === 'incomplete') return isJsonObject(details) && details.reason === 'content_filter' ? 'content_filter' : 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

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
  const error = toReportedError({ error: toObject(toObject(response).error) });
  return new UpstreamError(error.kind, error.message, { ...error, isFailedResponse: true });
}

/** Returns whether an event can precede all output of a response. */
export function isOpening({ type }: JsonObject): boolean {
  return openingTypes.has(type);
}

/** Returns whether an event ends a response that has not failed. */
export function isEnd({ type }: JsonObject): boolean {
  return endTypes.has(type);
}

/** Returns whether the bytes of an event end a response that has not failed. */
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
  const { input_tokens_details: input, output_tokens_details: output } = reported;
  return toChatUsage({
    prompt_tokens: reported.input_tokens,
    completion_tokens: toCount(reported.output_tokens),
    total_tokens: reported.total_tokens,
    ...(isJsonObject(input) && { prompt_tokens_details: input }),
    ...(isJsonObject(output) && { completion_tokens_details: output }),
  });
}
