import { isJsonObject, toObject } from '#base/json/json.ts';
import type { Chunk, ChunkChoice, Delta, FinishReason, Statistics, Usage } from '#contract/chat/chunk.ts';
import { Accumulator, toCustomContentChunk } from '#contract/chat/fold-frames.ts';
import type { MessagesUsage, ParleyExtension, StopReason } from '#contract/messages/dialect.ts';
import { toCount } from '#domain/usage/usage.ts';
import { Blocks, type MessageEvent, type PingEvent, toPieces } from './blocks.ts';

const stopReasons: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** Properties of a message that are known before the reply. */
interface MessageOptions {
  readonly messageId: string;
  /** ID of the deployment. */
  readonly model: string;
  /** Estimated input tokens, sent at the start. The actual count follows at the end. */
  readonly promptTokens: number;
  /** Returns the client's name of a tool. */
  readonly toToolName: (name: string) => string;
}

/**
 * Converts chunks to Messages API events: one start, consecutive blocks, one delta with the totals, and one stop
 * (docs/compatibility.md, Messages API).
 */
export class ReplyEvents {
  readonly #options: MessageOptions;
  readonly #blocks: Blocks;
  readonly #extras = new Extras();
  #hasStarted = false;
  #finish: FinishReason | undefined;
  #hasRefused = false;
  #usage: Usage | undefined;
  #serviceTier: unknown;

  constructor(options: MessageOptions) {
    this.#options = options;
    this.#blocks = new Blocks(options.toToolName);
  }

  /** Index of the open text block. Undefined if new text needs other events first. */
  get openTextIndex(): number | undefined {
    return this.#blocks.openTextIndex;
  }

  /** Returns the events for a chunk. Throws `upstream_failed` if too much content waits for an earlier tool call. */
  add(chunk: Chunk): MessageEvent[] {
    const events: MessageEvent[] = this.#hasStarted ? [] : [this.#start()];
    this.#hasStarted = true;
    if (chunk.usage) this.#usage = chunk.usage;
    this.#serviceTier = chunk.service_tier ?? chunk.usage?.service_tier ?? this.#serviceTier;
    if (chunk.statistics) this.#extras.setStatistics(chunk.statistics);
    for (const choice of chunk.choices) if ((choice.index ?? 0) === 0) events.push(...this.#addChoice(choice));
    return events;
  }

  /** Returns the final events of a complete reply. Throws `upstream_failed` if it contains an incomplete tool call. */
  end(): MessageEvent[] {
    const isTruncated = this.#hasRefused || this.#finish === 'length' || this.#finish === 'content_filter';
    const events = this.#blocks.end(isTruncated);
    const usage = this.#usage === undefined ? this.#buildInitialUsage() : toMessagesUsage(this.#usage, this.#serviceTier);
    const parley = this.#extras.getExtension();
    return [
      ...(this.#hasStarted ? [] : [this.#start()]),
      ...events,
      { type: 'message_delta', delta: { stop_reason: this.#getStopReason(), stop_sequence: null }, usage, parley },
      { type: 'message_stop' },
    ];
  }

  #addChoice({ delta, finish_reason }: ChunkChoice): MessageEvent[] {
    const events: MessageEvent[] = [];
    if (isJsonObject(delta)) {
      for (const piece of toPieces(delta, this.#options.messageId)) events.push(...this.#blocks.add(piece));
      if (typeof delta.refusal === 'string') this.#hasRefused = true;
      if (isJsonObject(delta.custom_content)) events.push(...this.#extras.add(delta.custom_content));
    }
    if (finish_reason) this.#finish = finish_reason;
    return events;
  }

  #getStopReason(): StopReason {
    if (this.#hasRefused) return 'refusal';
    return stopReasons[this.#finish ?? 'stop'];
  }

  #start(): MessageEvent {
    const { messageId: id, model } = this.#options;
    const empty = { content: [], stop_reason: null, stop_sequence: null, usage: this.#buildInitialUsage() };
    return { type: 'message_start', message: { id, type: 'message', role: 'assistant', model, ...empty } };
  }

  #buildInitialUsage(): MessagesUsage {
    const emptyUsage = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    return { input_tokens: this.#options.promptTokens, ...emptyUsage };
  }
}

const maxExtensionChars = 16 * 1024 * 1024;

/** Reply content without a counterpart in the Messages API. It is sent in pings as it arrives, and completely at the end. */
class Extras {
  readonly #accumulator = new Accumulator();
  #chars = 0;
  #statistics: Statistics | undefined;

  add(custom: NonNullable<Delta['custom_content']>): PingEvent[] {
    this.#chars += JSON.stringify(custom).length;
    if (this.#chars <= maxExtensionChars) this.#accumulator.add(toCustomContentChunk(custom));
    return [{ type: 'ping', parley: { custom_content: custom } }];
  }

  setStatistics(statistics: Statistics): void {
    this.#statistics = statistics;
  }

  /** Returns the complete content. Omits custom content that exceeds the limit. */
  getExtension(): ParleyExtension {
    const custom =
      this.#chars <= maxExtensionChars ? this.#accumulator.getCompletion().choices[0]?.message.custom_content : undefined;
    return { ...(custom && { custom_content: custom }), ...(this.#statistics && { statistics: this.#statistics }) };
  }
}

/** Converts usage to the Messages API. `input_tokens` does not include tokens that were read from the cache or written to it. */
function toMessagesUsage({ prompt_tokens, completion_tokens, ...otherUsage }: Usage, serviceTier: unknown): MessagesUsage {
  const prompt = toObject(otherUsage.prompt_tokens_details);
  const cachedTokens = Math.min(prompt_tokens, toCount(prompt.cached_tokens));
  const cacheWriteTokens = Math.min(prompt_tokens - cachedTokens, toCount(prompt.cache_write_tokens));
  const cacheWrite1hTokens = Math.min(cacheWriteTokens, toCount(prompt.cache_write_1h_tokens));
  const completion = toObject(otherUsage.completion_tokens_details);
  const thinking = toCount(completion.reasoning_tokens);
  return {
    input_tokens: prompt_tokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    ...(cacheWrite1hTokens > 0 && {
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
        ephemeral_1h_input_tokens: cacheWrite1hTokens,
      },
    }),
    output_tokens: completion_tokens,
    ...(typeof otherUsage.cost === 'number' && { cost: otherUsage.cost }),
    ...(typeof serviceTier === 'string' && { service_tier: serviceTier }),
    ...(thinking > 0 && { output_tokens_details: { thinking_tokens: thinking } }),
  };
}
