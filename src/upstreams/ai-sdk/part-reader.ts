import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4Source,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { filterObjects, type JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, FinishReason, ResponseAttachment, Usage } from '#contract/chat/chunk.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';
import { createEndError } from '../find-error.ts';
import { checkCallCount } from '../reply-calls.ts';
import { createIncompleteError } from '../to-upstream-error.ts';
import { toExtraContent, toThinkingBlock } from './signatures.ts';
import type { Vendor } from './vendor.ts';

const maxThoughtChars = 16 * 1024 * 1024;

type PartType<Type> = Extract<LanguageModelV4StreamPart, { type: Type }>;

interface OpenCall {
  readonly index: number;
  hasArguments: boolean;
}

interface Thought {
  text: string;
  metadata: JsonObject;
}

/** Converts the parts of one reply to chunks. */
export class PartReader {
  readonly #vendor: Vendor;
  #chunkFields: Pick<Chunk, 'id' | 'object' | 'created'> & { readonly model: string };
  #hasStarted = false;
  /** Whether the reply is complete. */
  hasEnded = false;
  /** The last call with each ID of the vendor. */
  readonly #calls = new Map<string, OpenCall>();
  #callCount = 0;
  readonly #thoughts = new Map<string, Thought>();
  #thoughtChars = 0;
  #attachmentCount = 0;
  /** Signature of the text as `extra_content`. Empty if the text is not signed. */
  #signature: JsonObject = {};

  constructor(vendor: Vendor, createdSeconds: number, model: string) {
    this.#vendor = vendor;
    this.#chunkFields = { id: '', object: 'chat.completion.chunk', created: createdSeconds, model };
  }

  /** Returns the chunks for a part. Throws `UpstreamError` for a reply that failed or exceeds a bound. */
  readPart(part: LanguageModelV4StreamPart): Chunk[] {
    switch (part.type) {
      case 'response-metadata':
        this.#chunkFields = {
          ...this.#chunkFields,
          ...(part.id && { id: part.id }),
          ...(part.modelId && { model: part.modelId }),
        };
        return [];
      case 'text-delta':
        this.#signature = { ...this.#signature, ...toExtraContent(part.providerMetadata, this.#vendor) };
        return part.delta === '' ? [] : this.#createChunks({ content: part.delta });
      case 'reasoning-delta':
        this.#addThought(part);
        return part.delta === '' ? [] : this.#createChunks({ reasoning_content: part.delta });
      case 'reasoning-end':
        this.#recordThought(part.id, part.providerMetadata);
        return this.#closeThought(part.id);
      case 'text-end':
        return this.#closeThought(part.id);
      case 'tool-input-start':
        return part.providerExecuted ? [] : this.#openCall(part.id, part.toolName, part.providerMetadata);
      case 'tool-input-delta':
        return this.#addToCall(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted ? [] : this.#closeCall(part);
      case 'file':
        return this.#attach(toFileAttachment(part));
      case 'source':
        return this.#attach(toSourceAttachment(part));
      case 'finish':
        return this.#finish(part);
      default:
        return [];
    }
  }

  #openCall(id: string, name: string, metadata: SharedV4ProviderMetadata | undefined): Chunk[] {
    checkCallCount(this.#callCount);
    const index = this.#callCount;
    this.#callCount += 1;
    this.#calls.set(id, { index, hasArguments: false });
    const signature = toExtraContent(metadata, this.#vendor);
    return this.#createChunks({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...signature }] });
  }

  #addToCall(id: string, json: string): Chunk[] {
    const call = this.#calls.get(id);
    if (call === undefined || json === '') return [];
    call.hasArguments = true;
    return this.#createChunks({ tool_calls: [{ index: call.index, function: { arguments: json } }] });
  }

  /** Sends the complete arguments if they were not streamed. */
  #closeCall({ toolCallId: id, toolName, input, providerMetadata }: PartType<'tool-call'>): Chunk[] {
    const openChunks = this.#calls.has(id) ? [] : this.#openCall(id, toolName, providerMetadata);
    return this.#calls.get(id)?.hasArguments ? openChunks : [...openChunks, ...this.#addToCall(id, input || '{}')];
  }

  #addThought({ id, delta, providerMetadata }: PartType<'reasoning-delta'>): void {
    if (this.#vendor.reasoningFormat !== 'signed') return;
    this.#thoughtChars += delta.length;
    if (this.#thoughtChars > maxThoughtChars)
      throw new UpstreamError('broken', `The upstream sent more than ${maxThoughtChars} characters of reasoning.`);
    const thought = this.#recordThought(id, providerMetadata);
    thought.text += delta;
  }

  #recordThought(id: string, metadata: SharedV4ProviderMetadata | undefined): Thought {
    const thought = this.#thoughts.get(id) ?? { text: '', metadata: {} };
    this.#thoughts.set(id, thought);
    Object.assign(thought.metadata, metadata?.[this.#vendor.namespace]);
    return thought;
  }

  #closeThought(id: string): Chunk[] {
    const thought = this.#thoughts.get(id);
    this.#thoughts.delete(id);
    const block = thought && toThinkingBlock(thought.text, thought.metadata);
    return block === undefined ? [] : this.#createChunks({ thinking_blocks: [block] });
  }

  #attach(attachment: Attachment): Chunk[] {
    const index = this.#attachmentCount;
    this.#attachmentCount += 1;
    return this.#createChunks({ custom_content: { attachments: [{ index, ...attachment }] } });
  }

  /** Sends the finish reason and the usage last, so that an incomplete reply does not look complete. */
  #finish({ finishReason, usage: counts, providerMetadata }: PartType<'finish'>): Chunk[] {
    const reason = toFinishReason(finishReason, this.#callCount > 0);
    this.hasEnded = true;
    const thoughtChunks = [...this.#thoughts.keys()].flatMap((id) => this.#closeThought(id));
    const finishMessage = providerMetadata?.[this.#vendor.namespace]?.finishMessage;
    const refusal = reason === 'content_filter' && typeof finishMessage === 'string' ? { refusal: finishMessage } : {};
    const endChunks = this.#createChunks({ ...this.#signature, ...refusal }, reason);
    const usage = toUsage(counts);
    return [...thoughtChunks, ...endChunks, ...(usage === undefined ? [] : [{ ...this.#chunkFields, choices: [], usage }])];
  }

  /** Sends the role with the first content. An earlier error can then still set the HTTP status. */
  #createChunks(delta: Delta, finish_reason: FinishReason | null = null): Chunk[] {
    const createChunk = (chunkDelta: Delta, reason: FinishReason | null): Chunk => ({
      ...this.#chunkFields,
      choices: [{ index: 0, delta: chunkDelta, finish_reason: reason }],
    });
    const roleChunks = this.#hasStarted ? [] : [createChunk({ role: 'assistant', content: '' }, null)];
    this.#hasStarted = true;
    return [...roleChunks, createChunk(delta, finish_reason)];
  }
}

type Attachment = Omit<ResponseAttachment, 'index'>;

function toFileAttachment({ mediaType: type, data }: LanguageModelV4File): Attachment {
  if (data.type === 'url') return { type, url: data.url.href };
  return { type, data: typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64') };
}

function toSourceAttachment(source: LanguageModelV4Source): Attachment {
  const title = source.title === undefined ? {} : { title: source.title };
  if (source.sourceType === 'url') return { type: 'text/plain', ...title, data: '', reference_url: source.url };
  return { type: 'text/plain', ...title, data: source.filename ?? '' };
}

/** Finish reasons of the vendors that their packages report as `other`. */
const vendorReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
]);
/** Finish reasons of failed replies. */
const failedReason = /^(malformed|unexpected_tool_call|too_many_tool_calls|missing_thought_signature|error$)/i;

/** Converts the finish reason. Throws `UpstreamError` if the reply failed or is incomplete. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, hasCalls: boolean): FinishReason {
  if (raw === undefined) throw createIncompleteError();
  if (unified === 'error' || failedReason.test(raw)) throw createEndError(raw);
  switch (unified) {
    case 'content-filter':
      return 'content_filter';
    case 'length':
      return 'length';
    case 'other':
      return vendorReasons.get(raw) ?? toCompletedReason(hasCalls);
    default:
      return toCompletedReason(hasCalls);
  }
}

function toCompletedReason(hasCalls: boolean): FinishReason {
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Returns the tokens that Bedrock caches for an hour. The package returns Bedrock's list unchanged. */
function countCachedForHour(details: unknown): number {
  return filterObjects(details).reduce((sum, item) => sum + (item.ttl === '1h' ? toCount(item.inputTokens) : 0), 0);
}

/** Converts the token counts to usage in the chat completions format. Returns undefined if the vendor reports no counts. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage | undefined {
  const { total: prompt, cacheRead, cacheWrite } = inputTokens;
  const { total: completion, reasoning } = outputTokens;
  if (prompt === undefined && completion === undefined) return undefined;
  const counts = { prompt_tokens: toCount(prompt), completion_tokens: toCount(completion) };
  const cachedForHour = countCachedForHour(raw?.cacheDetails);
  return {
    ...counts,
    total_tokens: counts.prompt_tokens + counts.completion_tokens,
    ...((cacheRead !== undefined || cacheWrite !== undefined) && {
      prompt_tokens_details: {
        cached_tokens: toCount(cacheRead),
        ...(cacheWrite !== undefined && { cache_write_tokens: toCount(cacheWrite) }),
        ...(cachedForHour > 0 && { cache_write_1h_tokens: cachedForHour }),
      },
    }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: toCount(reasoning) } }),
  };
}
