import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, FinishReason, ResponseAttachment } from '#contract/chat/chunk.ts';
import type { MessagesUsage } from '#contract/messages/dialect.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toFinishReason, toUsage, withLater } from './to-usage.ts';

const maxBlocks = 10_000;
const maxThoughtChars = 16 * 1024 * 1024;

/** What every chunk of one reply has. */
export type ReplyHead = Pick<Chunk, 'id' | 'object' | 'created'> & { readonly model?: string };

/** A block that has begun and not ended. */
type OpenBlock =
  | { readonly type: 'text' }
  | { readonly type: 'tool_use'; readonly call: number; readonly input: unknown; hasArguments: boolean }
  | { readonly type: 'thinking'; thinking: string; signature: string }
  | { readonly type: 'other' };

/** Translates the events of one streamed reply to chunks. Nothing an upstream sends is trusted: what has another form is ignored. */
export class MessageReader {
  #head: ReplyHead;
  #hasBegun = false;
  #hasEnded = false;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #calls = 0;
  #citations = 0;
  #thoughtChars = 0;
  #stopReason: unknown;
  #refusal: string | undefined;
  #usage: Partial<MessagesUsage> | undefined;

  constructor(createdSeconds: number, model: string) {
    this.#head = { id: '', object: 'chat.completion.chunk', created: createdSeconds, model };
  }

  get head(): ReplyHead {
    return this.#head;
  }

  /** Whether the reply came to its own end. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The chunks that an event means, in order. */
  take(event: JsonObject): Chunk[] {
    switch (event.type) {
      case 'message_start':
        return this.#begin(event.message);
      case 'content_block_start':
        return this.#openBlock(event.index, isJsonObject(event.content_block) ? event.content_block : {});
      case 'content_block_delta':
        return this.#addTo(event.index, isJsonObject(event.delta) ? event.delta : {});
      case 'content_block_stop':
        return this.#closeBlock(event.index);
      case 'message_delta':
        this.#note(event);
        return [];
      case 'message_stop':
        return this.#end();
      default:
        return [];
    }
  }

  /** The number of the call whose arguments a block brings. */
  callOf(block: unknown): number | undefined {
    const open = this.#blocks.get(block);
    return open?.type === 'tool_use' ? open.call : undefined;
  }

  /** Takes note of thoughts or arguments that went on without `take`. */
  passed(block: unknown, text: () => string): void {
    const open = this.#blocks.get(block);
    if (open?.type === 'tool_use') open.hasArguments = true;
    else if (open?.type === 'thinking') this.#think(open, text());
  }

  #begin(message: unknown): Chunk[] {
    if (this.#hasBegun || !isJsonObject(message)) return [];
    this.#hasBegun = true;
    const { id, model, usage } = message;
    this.#head = { ...this.#head, ...(isText(id) && { id }), ...(isText(model) && { model }) };
    if (isJsonObject(usage)) this.#usage = usage;
    return [this.#chunk({ role: 'assistant', content: '' })];
  }

  #openBlock(index: unknown, block: JsonObject): Chunk[] {
    if (this.#blocks.size >= maxBlocks)
      throw new UpstreamFault('broken', `The upstream sent more than ${maxBlocks} blocks at once.`);
    switch (block.type) {
      case 'text':
        this.#blocks.set(index, { type: 'text' });
        return this.#says({ content: block.text });
      case 'tool_use': {
        const { id, name, input } = block;
        const call = this.#calls;
        this.#calls += 1;
        this.#blocks.set(index, { type: 'tool_use', call, input, hasArguments: false });
        const called = { name: isText(name) ? name : '', arguments: '' };
        return [this.#chunk({ tool_calls: [{ index: call, id: isText(id) ? id : '', type: 'function', function: called }] })];
      }
      case 'thinking': {
        const open = { type: 'thinking', thinking: '', signature: isText(block.signature) ? block.signature : '' } as const;
        this.#blocks.set(index, open);
        return isText(block.thinking) ? this.#addTo(index, { type: 'thinking_delta', thinking: block.thinking }) : [];
      }
      case 'redacted_thinking':
        return isText(block.data) ? [this.#chunk({ thinking_blocks: [{ type: block.type, data: block.data }] })] : [];
      default:
        this.#blocks.set(index, { type: 'other' });
        return [];
    }
  }

  #addTo(index: unknown, delta: JsonObject): Chunk[] {
    const open = this.#blocks.get(index);
    switch (delta.type) {
      case 'text_delta':
        return this.#says({ content: delta.text });
      case 'thinking_delta':
        if (open?.type === 'thinking' && isText(delta.thinking)) this.#think(open, delta.thinking);
        return this.#says({ reasoning_content: delta.thinking });
      case 'signature_delta':
        if (open?.type === 'thinking' && isText(delta.signature)) open.signature += delta.signature;
        return [];
      case 'input_json_delta':
        if (open?.type !== 'tool_use' || !isText(delta.partial_json) || delta.partial_json === '') return [];
        open.hasArguments = true;
        return [this.#arguments(open.call, delta.partial_json)];
      case 'citations_delta':
        return isJsonObject(delta.citation) ? [this.#cite(delta.citation)] : [];
      default:
        return [];
    }
  }

  #closeBlock(index: unknown): Chunk[] {
    const open = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (open?.type === 'tool_use' && !open.hasArguments) return [this.#arguments(open.call, JSON.stringify(open.input ?? {}))];
    if (open?.type !== 'thinking' || open.signature === '') return [];
    const { thinking, signature } = open;
    return [this.#chunk({ thinking_blocks: [{ type: 'thinking', thinking, signature }] })];
  }

  #note({ delta, usage }: JsonObject): void {
    if (isJsonObject(usage)) this.#usage = withLater(this.#usage ?? {}, usage);
    if (!isJsonObject(delta)) return;
    this.#stopReason = delta.stop_reason ?? this.#stopReason;
    const details = delta.stop_details;
    if (isJsonObject(details) && isText(details.explanation)) this.#refusal = details.explanation;
  }

  /** The reason and the counts come only now: a reply that breaks off must not look whole. */
  #end(): Chunk[] {
    this.#hasEnded = true;
    const owed = [...this.#blocks.keys()].flatMap((index) => this.#closeBlock(index));
    const reason = toFinishReason(this.#stopReason, this.#calls > 0);
    const last = this.#chunk(this.#refusal === undefined ? {} : { refusal: this.#refusal }, reason);
    return [...owed, this.#usage === undefined ? last : { ...last, usage: toUsage(this.#usage) }];
  }

  #think(open: { thinking: string }, text: string): void {
    open.thinking += text;
    this.#thoughtChars += text.length;
    if (this.#thoughtChars > maxThoughtChars)
      throw new UpstreamFault('broken', `The upstream sent thoughts of more than ${maxThoughtChars} characters.`);
  }

  #says(delta: { readonly [key: string]: unknown }): Chunk[] {
    const hasText = Object.values(delta).every((text) => isText(text) && text !== '');
    return hasText ? [this.#chunk(delta)] : [];
  }

  #arguments(call: number, json: string): Chunk {
    return this.#chunk({ tool_calls: [{ index: call, function: { arguments: json } }] });
  }

  #cite(citation: JsonObject): Chunk {
    const attachment = toAttachment(citation, this.#citations);
    this.#citations += 1;
    return this.#chunk({ custom_content: { attachments: [attachment] } });
  }

  #chunk(delta: Delta, finish_reason: FinishReason | null = null): Chunk {
    return { ...this.#head, choices: [{ index: 0, delta, finish_reason }] };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A citation as an attachment: the passage, and where it is from. */
function toAttachment(citation: JsonObject, index: number): ResponseAttachment {
  const { cited_text: passage, url, source } = citation;
  const title = [citation.title, citation.document_title].find(isTextPart);
  const from = [url, source].find(isTextPart);
  return {
    index,
    type: 'text/plain',
    ...(title !== undefined && { title }),
    data: isTextPart(passage) ? passage : '',
    ...(from !== undefined && { reference_url: from }),
  };
}

function isTextPart(value: unknown): value is string {
  return typeof value === 'string';
}
