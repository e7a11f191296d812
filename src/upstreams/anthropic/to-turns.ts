import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ContentPart, Message } from '#contract/chat/message.ts';
import type {
  Base64Source,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  MessageParam,
  RedactedThinkingBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  UrlSource,
} from '#contract/messages/dialect.ts';
import { readDataUrl, textOf } from '../prompt/data-url.ts';
import { type CallInMessage, callsOf, noResult, opening, type PendingCall, PendingCalls } from '../prompt/message-calls.ts';
import { refusal } from '../prompt/refusal.ts';

/** What the id of a call must look like. */
const callId = /^[a-zA-Z0-9_-]+$/;

/** A conversation as the dialect has it. */
export interface Conversation {
  readonly system: readonly TextBlock[];
  /** User and assistant in turns, the user first; every call has its result in the next turn. */
  readonly messages: MessageParam[];
}

type Thought = ThinkingBlock | RedactedThinkingBlock;

interface UserTurn {
  readonly role: 'user';
  /** Go ahead of everything else in the turn. */
  readonly results: ToolResultBlock[];
  readonly content: ContentBlock[];
}

interface AssistantTurn {
  readonly role: 'assistant';
  readonly content: ContentBlock[];
}

/** System messages apart, the others in turns. Throws UpstreamFault 400 for content that the dialect does not have. */
export function toConversation(messages: readonly Message[]): Conversation {
  const turns = new Turns();
  messages.forEach((message, index) => {
    turns.add(message, `messages[${index}].content`);
  });
  return { system: turns.system, messages: turns.finish() };
}

class Turns {
  readonly system: TextBlock[] = [];
  readonly #turns: (UserTurn | AssistantTurn)[] = [];
  readonly #calls = new PendingCalls(callId);

  add(message: Message, at: string): void {
    switch (message.role) {
      case 'system':
      case 'developer':
        for (const block of toTextBlocks(message.content, at)) this.system.push(block);
        return;
      case 'assistant':
        this.#addReply(message, at);
        return;
      case 'tool':
        this.#addResult(message, at);
        return;
      default:
        this.#addToUser(toBlocks(message.content, at));
    }
  }

  finish(): MessageParam[] {
    const turns = this.#turns;
    this.#giveUpCalls();
    const last = turns.at(-1);
    if (last?.role === 'assistant') {
      trimEnd(last.content);
      if (last.content.length === 0) turns.pop();
    }
    if (turns[0]?.role !== 'user') turns.unshift(userTurn([{ type: 'text', text: opening }]));
    return turns.map((turn) =>
      turn.role === 'user' ? { role: 'user', content: [...turn.results, ...turn.content] } : { ...turn },
    );
  }

  /** A reply with nothing but thoughts is left out: the dialect refuses it. */
  #addReply(message: Message, at: string): void {
    const said = toBlocks(message.content, at);
    const calls = callsOf(message);
    if (said.length === 0 && calls.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === 'user') this.#giveUpCalls();
    const uses = calls.map((call) => this.#toToolUse(call));
    const content = [...thoughtsOf(message), ...said, ...uses];
    if (last?.role === 'assistant') for (const block of content) last.content.push(block);
    else this.#turns.push({ role: 'assistant', content });
  }

  #toToolUse({ id, name, input }: CallInMessage): ToolUseBlock {
    return { type: 'tool_use', id: this.#calls.ask(id, name).id, name, input };
  }

  /** A result that no call waits for is sent as text. */
  #addResult(message: Message, at: string): void {
    const blocks = toBlocks(message.content, at);
    const called = this.#calls.answer(typeof message.tool_call_id === 'string' ? message.tool_call_id : '');
    if (called === undefined) this.#addToUser(blocks);
    else this.#addOutput(called, blocks.length > 0 ? { content: blocks } : {});
  }

  #addOutput({ id }: PendingCall, output: Pick<ToolResultBlock, 'content' | 'is_error'>): void {
    this.#userTurn().results.push({ type: 'tool_result', tool_use_id: id, ...output });
  }

  #addToUser(blocks: readonly ContentBlock[]): void {
    for (const block of blocks) this.#userTurn().content.push(block);
  }

  #giveUpCalls(): void {
    for (const called of this.#calls.giveUp()) this.#addOutput(called, { content: noResult, is_error: true });
  }

  #userTurn(): UserTurn {
    const last = this.#turns.at(-1);
    if (last?.role === 'user') return last;
    const turn = userTurn([]);
    this.#turns.push(turn);
    return turn;
  }
}

function userTurn(content: ContentBlock[]): UserTurn {
  return { role: 'user', results: [], content };
}

/** The last words of an assistant may not end in white space, nor be thoughts. */
function trimEnd(content: ContentBlock[]): void {
  for (let last = content.at(-1); last !== undefined; last = content.at(-1)) {
    if (last.type === 'text') {
      const text = String(last.text).trimEnd();
      content[content.length - 1] = { ...last, type: 'text', text };
      if (text !== '') return;
    } else if (last.type !== 'thinking' && last.type !== 'redacted_thinking') {
      return;
    }
    content.pop();
  }
}

/** Thoughts as the model gave them: their signature is over every char. */
function thoughtsOf({ thinking_blocks: blocks }: Message): Thought[] {
  return Array.isArray(blocks) ? blocks.filter(isJsonObject).flatMap(toThought) : [];
}

function toThought({ type, thinking, signature, data }: JsonObject): readonly Thought[] {
  if (type === 'redacted_thinking' && typeof data === 'string') return [{ type, data }];
  if (type !== 'thinking' || typeof thinking !== 'string' || typeof signature !== 'string' || signature === '') return [];
  return [{ type, thinking, signature }];
}

/** Content parts that are blocks of the dialect already. */
const ownTypes: ReadonlySet<string> = new Set(['image', 'document', 'search_result', 'container_upload']);

/** Blocks of a message's content, without texts of white space only, which the dialect refuses. Throws UpstreamFault 400 for a part it has nothing for. */
export function toBlocks(content: Message['content'], at: string): ContentBlock[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const blocks = (content ?? []).map((part, position) => toBlock(part, `${at}[${position}]`));
  return blocks.filter((block) => block.type !== 'text' || !isBlank((block as TextBlock).text));
}

/** The same for content that can only be text. */
export function toTextBlocks(content: Message['content'], at: string): TextBlock[] {
  return toBlocks(content, at).map((block) => {
    if (block.type === 'text') return block as TextBlock;
    throw refusal(`a part of the type ${block.type} in a system message`, at);
  });
}

function toBlock(part: ContentPart, at: string): ContentBlock {
  const cached = isJsonObject(part.cache_control) ? { cache_control: part.cache_control } : {};
  switch (part.type) {
    case 'text':
      return { type: 'text', text: toText(part.text), ...cached };
    case 'refusal':
      return { type: 'text', text: toText(part.refusal) };
    case 'image_url':
      return { ...toImage(part.image_url, at), ...cached };
    case 'file':
      return { ...toDocument(isJsonObject(part.file) ? part.file : {}, at), ...cached };
  }
  if (ownTypes.has(part.type)) return part;
  throw refusal(`a part of the type ${part.type}`, at);
}

function toImage(image: unknown, at: string): ImageBlock {
  const url = isJsonObject(image) ? image.url : image;
  if (typeof url !== 'string') throw refusal('an image without an address', at);
  return { type: 'image', source: toSource(url, at) };
}

function toDocument(file: { readonly [key: string]: unknown }, at: string): ContentBlock {
  const title = typeof file.filename === 'string' ? { title: file.filename } : {};
  if (typeof file.file_id === 'string') return { type: 'document', source: { type: 'file', file_id: file.file_id }, ...title };
  if (typeof file.file_data !== 'string') throw refusal('a file without data', at);
  const isAddress = /^(data|https?):/i.test(file.file_data);
  const source = toSource(isAddress ? file.file_data : `data:application/pdf;base64,${file.file_data}`, at);
  if (source.type === 'base64' && source.media_type.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source: toDocumentSource(source), ...title };
}

/** Text is sent as text: the dialect takes nothing but PDF in base64. */
function toDocumentSource(source: Base64Source | UrlSource): DocumentBlock['source'] {
  const text = source.type === 'url' ? undefined : textOf({ mediaType: source.media_type, base64: source.data });
  return text === undefined ? source : { type: 'text', media_type: 'text/plain', data: text };
}

function toSource(url: string, at: string): Base64Source | UrlSource {
  if (!/^data:/i.test(url)) return { type: 'url', url };
  const data = readDataUrl(url);
  if (data === undefined) throw refusal('a data: address without data', at);
  return { type: 'base64', media_type: data.mediaType, data: data.base64 };
}

function toText(text: unknown): string {
  return typeof text === 'string' ? text : '';
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
