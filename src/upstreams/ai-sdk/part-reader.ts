import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4Source,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, FinishReason, ResponseAttachment, Usage } from '#contract/chat/chunk.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';
import { toExtraContent, toThinkingBlock } from './signatures.ts';
import type { Vendor } from './vendor.ts';

const maxCalls = 10_000;
const maxThoughtChars = 16 * 1024 * 1024;

type PartOf<Type> = Extract<LanguageModelV4StreamPart, { type: Type }>;

interface OpenCall {
  readonly index: number;
  hasArguments: boolean;
}

interface Thought {
  text: string;
  metadata: JsonObject;
}

/** Tells the parts of one reply in chunks. */
export class PartReader {
  readonly #vendor: Vendor;
  #head: Pick<Chunk, 'id' | 'object' | 'created'> & { readonly model: string };
  #hasStarted = false;
  #hasEnded = false;
  /** By the vendor's id: of two calls of one id the later. */
  readonly #calls = new Map<string, OpenCall>();
  #callCount = 0;
  readonly #thoughts = new Map<string, Thought>();
  #thoughtChars = 0;
  #attachments = 0;
  /** Of the text, in the form that goes to the caller. */
  #signature: JsonObject = {};

  constructor(vendor: Vendor, createdSeconds: number, model: string) {
    this.#vendor = vendor;
    this.#head = { id: '', object: 'chat.completion.chunk', created: createdSeconds, model };
  }

  /** Whether the reply came to its own end. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The chunks that a part means. Throws UpstreamFault for an end that is none. */
  read(part: LanguageModelV4StreamPart): Chunk[] {
    switch (part.type) {
      case 'response-metadata':
        this.#head = { ...this.#head, ...(part.id && { id: part.id }), ...(part.modelId && { model: part.modelId }) };
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
    if (this.#callCount >= maxCalls) throw new UpstreamError('broken', `The upstream asked for more than ${maxCalls} calls.`);
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

  /** Arguments that did not come in pieces come whole. */
  #closeCall({ toolCallId: id, toolName, input, providerMetadata }: PartOf<'tool-call'>): Chunk[] {
    const openChunks = this.#calls.has(id) ? [] : this.#openCall(id, toolName, providerMetadata);
    return this.#calls.get(id)?.hasArguments ? openChunks : [...openChunks, ...this.#addToCall(id, input || '{}')];
  }

  #addThought({ id, delta, providerMetadata }: PartOf<'reasoning-delta'>): void {
    if (this.#vendor.thoughts !== 'signed') return;
    this.#thoughtChars += delta.length;
    if (this.#thoughtChars > maxThoughtChars)
      throw new UpstreamError('broken', `The upstream sent thoughts of more than ${maxThoughtChars} characters.`);
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

  #attach(attachment: Omit<ResponseAttachment, 'index'> | undefined): Chunk[] {
    if (attachment === undefined) return [];
    const index = this.#attachments;
    this.#attachments += 1;
    return this.#createChunks({ custom_content: { attachments: [{ index, ...attachment }] } });
  }

  /** The reason and the counts come last: a reply that breaks off must not look whole. */
  #finish({ finishReason, usage: counts, providerMetadata }: PartOf<'finish'>): Chunk[] {
    const reason = toFinishReason(finishReason, this.#callCount > 0);
    this.#hasEnded = true;
    const thoughtChunks = [...this.#thoughts.keys()].flatMap((id) => this.#closeThought(id));
    const finishMessage = providerMetadata?.[this.#vendor.namespace]?.finishMessage;
    const refusal = reason === 'content_filter' && typeof finishMessage === 'string' ? { refusal: finishMessage } : {};
    const endChunks = this.#createChunks({ ...this.#signature, ...refusal }, reason);
    const usage = toUsage(counts);
    return [...thoughtChunks, ...endChunks, ...(usage === undefined ? [] : [{ ...this.#head, choices: [], usage }])];
  }

  /** The role comes with the first content: an error ahead of everything else still has a status. */
  #createChunks(delta: Delta, finish_reason: FinishReason | null = null): Chunk[] {
    const chunk = (chunkDelta: Delta, reason: FinishReason | null): Chunk => ({
      ...this.#head,
      choices: [{ index: 0, delta: chunkDelta, finish_reason: reason }],
    });
    const role = this.#hasStarted ? [] : [chunk({ role: 'assistant', content: '' }, null)];
    this.#hasStarted = true;
    return [...role, chunk(delta, finish_reason)];
  }
}

type Attachment = Omit<ResponseAttachment, 'index'>;

/** A file that the model made. */
function toFileAttachment({ mediaType: type, data }: LanguageModelV4File): Attachment {
  if (data.type === 'url') return { type, url: data.url.href };
  return { type, data: typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64') };
}

/** Where the answer is from. */
function toSourceAttachment(source: LanguageModelV4Source): Attachment {
  const title = source.title === undefined ? {} : { title: source.title };
  if (source.sourceType === 'url') return { type: 'text/plain', ...title, data: '', reference_url: source.url };
  return { type: 'text/plain', ...title, data: source.filename ?? '' };
}

/** Reasons in the vendors' own words that their packages know no better than `other`. */
const vendorReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
]);
/** Ends of replies that are none. */
const failedReason = /^(malformed|unexpected_tool_call|too_many_tool_calls|missing_thought_signature|error$)/i;

/** Why a reply ended. Throws UpstreamFault if it did not come to its own end. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, hasCalls: boolean): FinishReason {
  if (raw === undefined) throw new UpstreamError('broken', 'The upstream ended its reply before it was complete.');
  if (unified === 'error' || failedReason.test(raw))
    throw new UpstreamError('broken', `The upstream ended its answer with ${raw}.`);
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

/** Tokens that Bedrock's cache keeps for an hour. The package passes Bedrock's own list. */
function countWrittenForHour(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  return details.filter(isJsonObject).reduce((sum, item) => sum + (item.ttl === '1h' ? toCount(item.inputTokens) : 0), 0);
}

/** Counts as the compat wire has them; undefined if the vendor reports none. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage | undefined {
  const { total: prompt, cacheRead, cacheWrite } = inputTokens;
  const { total: completion, reasoning } = outputTokens;
  if (prompt === undefined && completion === undefined) return undefined;
  const counts = { prompt_tokens: toCount(prompt), completion_tokens: toCount(completion) };
  const writtenForHour = countWrittenForHour(raw?.cacheDetails);
  return {
    ...counts,
    total_tokens: counts.prompt_tokens + counts.completion_tokens,
    ...((cacheRead !== undefined || cacheWrite !== undefined) && {
      prompt_tokens_details: {
        cached_tokens: toCount(cacheRead),
        ...(cacheWrite !== undefined && { cache_write_tokens: toCount(cacheWrite) }),
        ...(writtenForHour > 0 && { cache_write_1h_tokens: writtenForHour }),
      },
    }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: toCount(reasoning) } }),
  };
}
