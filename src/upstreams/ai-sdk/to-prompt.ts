import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider';
import { toText } from '#base/json/json.ts';
import type { Message } from '#contract/chat/message.ts';
import {
  listCalls,
  type MessageCall,
  noResultText,
  openingText,
  type PendingCall,
  PendingCalls,
} from '../prompt/message-calls.ts';
import { fromExtraContent, toReasoningParts } from './signatures.ts';
import { type Part, toParts, toTexts } from './to-content.ts';
import type { Vendor } from './vendor.ts';

const noOutputText = '(The tool gave no output.)';

type Turn<Role> = Extract<LanguageModelV4Message, { role: Role }>;

/**
 * Converts a conversation to the prompt of the packages. System messages are first, then the turns of user and assistant. A result
 * follows each call. Calls are sent as text if the request allows no calls and the vendor then does not accept them.
 * Throws `UpstreamError` 400 for content that the vendor does not support.
 */
export function toPrompt(messages: readonly Message[], vendor: Vendor, canCall: boolean): LanguageModelV4Prompt {
  const turns = new Turns(vendor, canCall || vendor.acceptsCallsWithoutTools);
  messages.forEach((message, index) => {
    turns.add(message, `messages[${index}].content`);
  });
  return turns.finish();
}

class Turns {
  readonly #vendor: Vendor;
  readonly #hasCalls: boolean;
  readonly #system: Turn<'system'>[] = [];
  readonly #turns: (Turn<'user'> | Turn<'assistant'> | Turn<'tool'>)[] = [];
  readonly #calls: PendingCalls;

  constructor(vendor: Vendor, hasCalls: boolean) {
    this.#vendor = vendor;
    this.#hasCalls = hasCalls;
    this.#calls = new PendingCalls(vendor.callIdPattern);
  }

  add(message: Message, path: string): void {
    switch (message.role) {
      case 'system':
      case 'developer':
        this.#addSystem(message, path);
        return;
      case 'assistant':
        this.#addReply(message, path);
        return;
      case 'tool':
        this.#addResult(message, path);
        return;
      default:
        this.#addToUser(toParts(message.content, path, this.#vendor));
    }
  }

  finish(): LanguageModelV4Prompt {
    this.#abandonCalls();
    if (this.#turns[0]?.role !== 'user') this.#turns.unshift({ role: 'user', content: [{ type: 'text', text: openingText }] });
    return [...this.#system, ...this.#turns];
  }

  #addSystem({ content }: Message, path: string): void {
    for (const { text, providerOptions } of toTexts(content, path, this.#vendor))
      this.#system.push({ role: 'system', content: text, ...(providerOptions && { providerOptions }) });
  }

  #addReply(message: Message, path: string): void {
    const texts = addSignature(toTexts(message.content, path, this.#vendor), message, this.#vendor);
    const calls = listCalls(message);
    if (texts.length === 0 && calls.length === 0) return;
    this.#abandonCalls();
    const content = [
      ...toReasoningParts(message, this.#vendor),
      ...texts,
      ...calls.map((call) => this.#toCall(call)),
    ] as Turn<'assistant'>['content'];
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant') for (const part of content) last.content.push(part);
    else this.#turns.push({ role: 'assistant', content });
  }

  #toCall({ source, id, name, input }: MessageCall): Turn<'assistant'>['content'][number] {
    const pendingCall = this.#calls.register(id, name);
    if (!this.#hasCalls) return { type: 'text', text: `I called ${name} with ${JSON.stringify(input)}.` };
    return { type: 'tool-call', toolCallId: pendingCall.id, toolName: name, input, ...fromExtraContent(source, this.#vendor) };
  }

  /** Adds a tool result. A result without a call is sent as text. */
  #addResult(message: Message, path: string): void {
    const parts = toParts(message.content, path, this.#vendor);
    const pendingCall = this.#calls.answer(toText(message.tool_call_id));
    if (pendingCall === undefined) this.#addToUser(parts);
    else if (this.#hasCalls) this.#addOutput(pendingCall, toOutput(parts, this.#vendor), getCacheOptions(parts));
    else this.#addToUser([{ type: 'text', text: `${pendingCall.name} gave this result:` }, ...ensureParts(parts)]);
  }

  #addOutput(
    { id, name }: PendingCall,
    output: LanguageModelV4ToolResultOutput,
    options: Pick<Part, 'providerOptions'> = {},
  ): void {
    const last = this.#turns.at(-1);
    const result = { type: 'tool-result' as const, toolCallId: id, toolName: name, output, ...options };
    if (last?.role === 'tool') last.content.push(result);
    else this.#turns.push({ role: 'tool', content: [result] });
  }

  #addToUser(parts: Part[]): void {
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant' || last?.role === 'tool') this.#abandonCalls();
    if (last?.role === 'user') for (const part of parts) last.content.push(part);
    else this.#turns.push({ role: 'user', content: parts });
  }

  #abandonCalls(): void {
    const openCalls = this.#calls.abandon();
    if (this.#hasCalls)
      for (const pendingCall of openCalls) this.#addOutput(pendingCall, { type: 'error-text', value: noResultText });
  }
}

/** Adds the signature, which covers all parts, to the last part. */
function addSignature(texts: LanguageModelV4TextPart[], message: Message, vendor: Vendor): LanguageModelV4TextPart[] {
  const last = texts.at(-1);
  return last === undefined ? [] : [...texts.slice(0, -1), { ...last, ...fromExtraContent(message, vendor) }];
}

/** Returns the cache options of the last part. They apply to the complete result. */
function getCacheOptions(parts: readonly Part[]): Pick<Part, 'providerOptions'> {
  const options = parts.at(-1)?.providerOptions;
  return options === undefined ? {} : { providerOptions: options };
}

function toOutput(resultParts: Part[], vendor: Vendor): LanguageModelV4ToolResultOutput {
  const parts = ensureParts(resultParts.map((part) => (part.type === 'text' || isInline(part, vendor) ? part : toNote(part))));
  if (parts.every((part) => part.type === 'text')) return { type: 'text', value: parts.map(({ text }) => text).join('\n\n') };
  return { type: 'content', value: parts };
}

/** Returns whether a tool result can contain the file. A URL cannot be part of it, because the vendor would fetch the file. */
function isInline({ data }: LanguageModelV4FilePart, { acceptsToolFiles }: Vendor): boolean {
  return acceptsToolFiles && data.type === 'data';
}

function toNote({ data, mediaType }: LanguageModelV4FilePart): LanguageModelV4TextPart {
  const location = data.type === 'url' ? `at ${data.url}` : 'that cannot be shown here';
  return { type: 'text', text: `(A file of the type ${mediaType} ${location}.)` };
}

function ensureParts(parts: Part[]): Part[] {
  return parts.length === 0 ? [{ type: 'text', text: noOutputText }] : parts;
}
