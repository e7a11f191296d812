import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';
import type { Chunk, Delta, FinishReason, ResponseAttachment, Usage } from '#contract/chat/chunk.ts';
import type { MessagesUsage, StopReason } from '#contract/messages/dialect.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';

const maxBlocks = 10_000;
const maxThoughtChars = 16 * 1024 * 1024;

/** Fields of every chunk of one reply. */
export type ReplyHead = Pick<Chunk, 'id' | 'object' | 'created'> & { readonly model?: string };

/** A block that has started and not ended. */
type OpenBlock =
  | { readonly type: 'text' }
  | { readonly type: 'tool_use'; readonly call: number; readonly input: unknown; hasArguments: boolean }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'other' };

/** Translates the events of one streamed reply to chunks. Upstreams are not trusted: values of an unexpected form are ignored. */
export class MessageReader {
  head: ReplyHead;
  #hasStarted = false;
  /** Whether the end of the reply has been read. */
  hasEnded = false;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #callCount = 0;
  #citationCount = 0;
  #thoughtChars = 0;
  #stopReason: unknown;
  #refusal: string | undefined;
  #usage: Partial<MessagesUsage> | undefined;

  constructor(createdSeconds: number, model: string) {
    this.head = { id: '', object: 'chat.completion.chunk', created: createdSeconds, model };
  }

  /** Returns the chunks for an event, in order. */
  readEvent(event: JsonObject): Chunk[] {
    switch (event.type) {
      case 'message_start':
        return this.#start(event.message);
      case 'content_block_start':
        return this.#openBlock(event.index, toObject(event.content_block));
      case 'content_block_delta':
        return this.#addDelta(event.index, toObject(event.delta));
      case 'content_block_stop':
        return this.#closeBlock(event.index);
      case 'message_delta':
        this.#recordMessageDelta(event);
        return [];
      case 'message_stop':
        return this.#end();
      default:
        return [];
    }
  }

  /** Returns the index of the call whose arguments a block contains. */
  getCallIndex(block: unknown): number | undefined {
    const openBlock = this.#blocks.get(block);
    return openBlock?.type === 'tool_use' ? openBlock.call : undefined;
  }

  /** Records thoughts or arguments of events that were not passed to `readEvent`. */
  recordPassed(block: unknown, text: () => string): void {
    const openBlock = this.#blocks.get(block);
    if (openBlock?.type === 'tool_use') openBlock.hasArguments = true;
    else if (openBlock?.type === 'thinking') this.#addThought(openBlock, text());
  }

  #start(message: unknown): Chunk[] {
    if (this.#hasStarted || !isJsonObject(message)) return [];
    this.#hasStarted = true;
    const { id, model, usage } = message;
    this.head = { ...this.head, ...(isText(id) && { id }), ...(isText(model) && { model }) };
    if (isJsonObject(usage)) this.#usage = usage;
    return [this.#createChunk({ role: 'assistant', content: '' })];
  }

  #openBlock(index: unknown, block: JsonObject): Chunk[] {
    if (this.#blocks.size >= maxBlocks)
      throw new UpstreamError('broken', `The upstream sent more than ${maxBlocks} open blocks.`);
    switch (block.type) {
      case 'text':
        this.#blocks.set(index, { type: 'text' });
        return this.#createTextChunks({ content: block.text });
      case 'tool_use': {
        const { id, name, input } = block;
        const call = this.#callCount;
        this.#callCount += 1;
        this.#blocks.set(index, { type: 'tool_use', call, input, hasArguments: false });
        const calledFunction = { name: isText(name) ? name : '', arguments: '' };
        return [
          this.#createChunk({
            tool_calls: [{ index: call, id: isText(id) ? id : '', type: 'function', function: calledFunction }],
          }),
        ];
      }
      case 'thinking': {
        const openBlock = { type: 'thinking', thinking: '', signature: isText(block.signature) ? block.signature : '' } as const;
        this.#blocks.set(index, openBlock);
        return isText(block.thinking) ? this.#addDelta(index, { type: 'thinking_delta', thinking: block.thinking }) : [];
      }
      case 'redacted_thinking':
        return isText(block.data) ? [this.#createChunk({ thinking_blocks: [{ type: block.type, data: block.data }] })] : [];
      default:
        this.#blocks.set(index, { type: 'other' });
        return [];
    }
  }

  #addDelta(index: unknown, delta: JsonObject): Chunk[] {
    const openBlock = this.#blocks.get(index);
    switch (delta.type) {
      case 'text_delta':
        return this.#createTextChunks({ content: delta.text });
      case 'thinking_delta':
        if (openBlock?.type === 'thinking' && isText(delta.thinking)) this.#addThought(openBlock, delta.thinking);
        return this.#createTextChunks({ reasoning_content: delta.thinking });
      case 'signature_delta':
        if (openBlock?.type === 'thinking' && isText(delta.signature)) {
          openBlock.signature += delta.signature;
          this.#countThought(delta.signature);
        }
        return [];
      case 'input_json_delta':
        if (openBlock?.type !== 'tool_use' || !isText(delta.partial_json) || delta.partial_json === '') return [];
        openBlock.hasArguments = true;
        return [this.#createArgumentsChunk(openBlock.call, delta.partial_json)];
      case 'citations_delta':
        return isJsonObject(delta.citation) ? [this.#createCitationChunk(delta.citation)] : [];
      default:
        return [];
    }
  }

  #closeBlock(index: unknown): Chunk[] {
    const openBlock = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (openBlock?.type === 'tool_use' && !openBlock.hasArguments)
      return [this.#createArgumentsChunk(openBlock.call, JSON.stringify(openBlock.input ?? {}))];
    if (openBlock?.type !== 'thinking' || openBlock.signature === '') return [];
    const { thinking, signature } = openBlock;
    return [this.#createChunk({ thinking_blocks: [{ type: 'thinking', thinking, signature }] })];
  }

  #recordMessageDelta({ delta, usage }: JsonObject): void {
    if (isJsonObject(usage)) this.#usage = mergeCounts(this.#usage ?? {}, usage);
    if (!isJsonObject(delta)) return;
    this.#stopReason = delta.stop_reason ?? this.#stopReason;
    const details = delta.stop_details;
    if (isJsonObject(details) && isText(details.explanation)) this.#refusal = details.explanation;
  }

  /** Sends the finish reason and the usage last, so that an incomplete reply does not look complete. */
  #end(): Chunk[] {
    this.hasEnded = true;
    const blockChunks = [...this.#blocks.keys()].flatMap((index) => this.#closeBlock(index));
    const reason = toFinishReason(this.#stopReason, this.#callCount > 0);
    const last = this.#createChunk(this.#refusal === undefined ? {} : { refusal: this.#refusal }, reason);
    return [...blockChunks, this.#usage === undefined ? last : { ...last, usage: toUsage(this.#usage) }];
  }

  #addThought(openBlock: { thinking: string }, text: string): void {
    openBlock.thinking += text;
    this.#countThought(text);
  }

  #countThought(text: string): void {
    this.#thoughtChars += text.length;
    if (this.#thoughtChars > maxThoughtChars)
      throw new UpstreamError('broken', `The upstream sent more than ${maxThoughtChars} characters of reasoning.`);
  }

  #createTextChunks(delta: { readonly [key: string]: unknown }): Chunk[] {
    const hasText = Object.values(delta).every((text) => isText(text) && text !== '');
    return hasText ? [this.#createChunk(delta)] : [];
  }

  #createArgumentsChunk(call: number, json: string): Chunk {
    return this.#createChunk({ tool_calls: [{ index: call, function: { arguments: json } }] });
  }

  #createCitationChunk(citation: JsonObject): Chunk {
    const attachment = toAttachment(citation, this.#citationCount);
    this.#citationCount += 1;
    return this.#createChunk({ custom_content: { attachments: [attachment] } });
  }

  #createChunk(delta: Delta, finish_reason: FinishReason | null = null): Chunk {
    return { ...this.head, choices: [{ index: 0, delta, finish_reason }] };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Returns a citation as an attachment: the passage and its source. */
function toAttachment(citation: JsonObject, index: number): ResponseAttachment {
  const { cited_text: passage, url, source } = citation;
  const title = [citation.title, citation.document_title].find(isText);
  const sourceUrl = [url, source].find(isText);
  return {
    index,
    type: 'text/plain',
    ...(title !== undefined && { title }),
    data: isText(passage) ? passage : '',
    ...(sourceUrl !== undefined && { reference_url: sourceUrl }),
  };
}

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<StopReason, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/**
 * Returns the finish reason of a reply. A successful reply with calls ends with `tool_calls`, regardless of the upstream's
 * reason.
 */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  const finishReason = finishReasons.get(reason) ?? 'stop';
  if (finishReason === 'stop' || finishReason === 'tool_calls') return hasCalls ? 'tool_calls' : 'stop';
  return finishReason;
}

/**
 * Converts the token counts of the dialect to usage in the chat completions format. `prompt_tokens` includes the tokens that were read from
 * and written to the cache.
 */
export function toUsage(counts: Partial<MessagesUsage>): Usage {
  const {
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWritten,
    output_tokens_details: details,
  } = counts;
  const writtenForHour = toCount(counts.cache_creation?.ephemeral_1h_input_tokens);
  const prompt_tokens = toCount(counts.input_tokens) + toCount(cacheRead) + toCount(cacheWritten);
  const completion_tokens = toCount(counts.output_tokens);
  const hasCache = typeof cacheRead === 'number' || typeof cacheWritten === 'number';
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(hasCache && {
      prompt_tokens_details: {
        cached_tokens: toCount(cacheRead),
        cache_write_tokens: toCount(cacheWritten),
        ...(writtenForHour > 0 && { cache_write_1h_tokens: writtenForHour }),
      },
    }),
    ...(typeof counts.service_tier === 'string' && { service_tier: counts.service_tier }),
    ...(typeof details?.thinking_tokens === 'number' && {
      completion_tokens_details: { reasoning_tokens: toCount(details.thinking_tokens) },
    }),
  };
}

/** Replaces the counts with later counts of the stream. Ignores null. */
export function mergeCounts(counts: Partial<MessagesUsage>, laterCounts: object): Partial<MessagesUsage> {
  return { ...counts, ...Object.fromEntries(Object.entries(laterCounts).filter(([, value]) => value !== null)) };
}
