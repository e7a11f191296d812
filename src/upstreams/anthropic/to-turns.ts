import { filterObjects, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
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
  UrlSource,
} from '#contract/messages/dialect.ts';
import { createUnsupportedError } from '#domain/upstreams/upstream-error.ts';
import { decodeInlineText, readDataUrl } from '../prompt/data-url.ts';
import { isBlank, listCalls, noResultText, openingText, type PendingCall, PendingCalls } from '../prompt/message-calls.ts';

const callIdPattern = /^[a-zA-Z0-9_-]+$/;

/** A conversation in the dialect. */
export interface Conversation {
  readonly system: readonly TextBlock[];
  /** Alternating turns that start with the user. Every call has its result in the next turn. */
  readonly messages: MessageParam[];
}

type Thought = ThinkingBlock | RedactedThinkingBlock;

interface UserTurn {
  readonly role: 'user';
  /** Results, which are first in their turn. */
  readonly results: ToolResultBlock[];
  readonly content: ContentBlock[];
}

interface AssistantTurn {
  readonly role: 'assistant';
  readonly content: ContentBlock[];
}

/**
 * Separates the system messages and joins the remaining messages to turns. Throws `UpstreamError` with the status 400 for content that the
 * dialect does not support.
 */
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
  readonly #calls = new PendingCalls(callIdPattern);

  add(message: Message, path: string): void {
    switch (message.role) {
      case 'system':
      case 'developer':
        for (const block of toTextBlocks(message.content, path)) this.system.push(block);
        return;
      case 'assistant':
        this.#addReply(message, path);
        return;
      case 'tool':
        this.#addResult(message, path);
        return;
      default:
        this.#addToUser(toBlocks(message.content, path));
    }
  }

  finish(): MessageParam[] {
    const turns = this.#turns;
    this.#abandonCalls();
    const last = turns.at(-1);
    if (last?.role === 'assistant') {
      trimEnd(last.content);
      if (last.content.length === 0) turns.pop();
    }
    if (turns[0]?.role !== 'user') turns.unshift(createUserTurn([{ type: 'text', text: openingText }]));
    return turns.map((turn) =>
      turn.role === 'user' ? { role: 'user', content: [...turn.results, ...turn.content] } : { ...turn },
    );
  }

  /** A reply with only thoughts is removed, because the dialect rejects it. */
  #addReply(message: Message, path: string): void {
    const contentBlocks = toBlocks(message.content, path);
    const calls = listCalls(message);
    if (contentBlocks.length === 0 && calls.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === 'user') this.#abandonCalls();
    const uses = calls.map(({ id, name, input }) => ({ type: 'tool_use', id: this.#calls.register(id, name).id, name, input }));
    const content = [...listThoughts(message), ...contentBlocks, ...uses];
    if (last?.role === 'assistant') for (const block of content) last.content.push(block);
    else this.#turns.push({ role: 'assistant', content });
  }

  /** A result without a call is sent as text. */
  #addResult(message: Message, path: string): void {
    const blocks = toBlocks(message.content, path);
    const pendingCall = this.#calls.answer(toText(message.tool_call_id));
    if (pendingCall === undefined) this.#addToUser(blocks);
    else this.#addOutput(pendingCall, blocks.length > 0 ? { content: blocks } : {});
  }

  #addOutput({ id }: PendingCall, output: Pick<ToolResultBlock, 'content' | 'is_error'>): void {
    this.#getUserTurn().results.push({ type: 'tool_result', tool_use_id: id, ...output });
  }

  #addToUser(blocks: readonly ContentBlock[]): void {
    for (const block of blocks) this.#getUserTurn().content.push(block);
  }

  #abandonCalls(): void {
    for (const pendingCall of this.#calls.abandon()) this.#addOutput(pendingCall, { content: noResultText, is_error: true });
  }

  #getUserTurn(): UserTurn {
    const last = this.#turns.at(-1);
    if (last?.role === 'user') return last;
    const turn = createUserTurn([]);
    this.#turns.push(turn);
    return turn;
  }
}

function createUserTurn(content: ContentBlock[]): UserTurn {
  return { role: 'user', results: [], content };
}

/** The dialect rejects a last assistant message that ends with white space or thoughts. */
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

/** Returns the thoughts unchanged, because their signature covers every character. */
function listThoughts({ thinking_blocks: blocks }: Message): Thought[] {
  return filterObjects(blocks).flatMap(toThought);
}

function toThought({ type, thinking, signature, data }: JsonObject): readonly Thought[] {
  if (type === 'redacted_thinking' && typeof data === 'string') return [{ type, data }];
  if (type !== 'thinking' || typeof thinking !== 'string' || typeof signature !== 'string' || signature === '') return [];
  return [{ type, thinking, signature }];
}

/** Content parts that are already blocks of the dialect. */
const nativeTypes: ReadonlySet<string> = new Set(['image', 'document', 'search_result', 'container_upload']);

/**
 * Returns the blocks of a message's content. Texts of only white space are removed, because the dialect rejects them. Throws
 * `UpstreamError` with the status 400 for an unsupported part.
 */
export function toBlocks(content: Message['content'], path: string): ContentBlock[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const blocks = (content ?? []).map((part, position) => toBlock(part, `${path}[${position}]`));
  return blocks.filter((block) => block.type !== 'text' || !isBlank((block as TextBlock).text));
}

/** Converts content that can contain only text. Throws `UpstreamError` with the status 400 for other blocks. */
export function toTextBlocks(content: Message['content'], path: string): TextBlock[] {
  return toBlocks(content, path).map((block) => {
    if (block.type === 'text') return block as TextBlock;
    throw createUnsupportedError(`a part of the type ${block.type} in a system message`, path);
  });
}

function toBlock(part: ContentPart, path: string): ContentBlock {
  const cached = isJsonObject(part.cache_control) ? { cache_control: part.cache_control } : {};
  switch (part.type) {
    case 'text':
      return { type: 'text', text: toText(part.text), ...cached };
    case 'refusal':
      return { type: 'text', text: toText(part.refusal) };
    case 'image_url':
      return { ...toImage(part.image_url, path), ...cached };
    case 'file':
      return { ...toDocument(toObject(part.file), path), ...cached };
  }
  if (nativeTypes.has(part.type)) return part;
  throw createUnsupportedError(`a part of the type ${part.type}`, path);
}

function toImage(image: unknown, path: string): ImageBlock {
  const url = isJsonObject(image) ? image.url : image;
  if (typeof url !== 'string') throw createUnsupportedError('an image without a URL', path);
  return { type: 'image', source: toSource(url, path) };
}

function toDocument({ file_data: data, file_id, filename }: JsonObject, path: string): ContentBlock {
  const title = typeof filename === 'string' ? { title: filename } : {};
  if (typeof file_id === 'string') return { type: 'document', source: { type: 'file', file_id }, ...title };
  if (typeof data !== 'string') throw createUnsupportedError('a file without data', path);
  const isUrl = /^(data|https?):/i.test(data);
  const source = toSource(isUrl ? data : `data:application/pdf;base64,${data}`, path);
  if (source.type === 'base64' && source.media_type.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source: toDocumentSource(source), ...title };
}

/** Converts the source of a document. Text files are sent as text, because the dialect accepts only PDF in base64. */
function toDocumentSource(source: Base64Source | UrlSource): DocumentBlock['source'] {
  const text = source.type === 'url' ? undefined : decodeInlineText({ mediaType: source.media_type, base64: source.data });
  return text === undefined ? source : { type: 'text', media_type: 'text/plain', data: text };
}

function toSource(url: string, path: string): Base64Source | UrlSource {
  if (!/^data:/i.test(url)) return { type: 'url', url };
  const data = readDataUrl(url);
  if (data === undefined) throw createUnsupportedError('a data: URL without data', path);
  return { type: 'base64', media_type: data.mediaType, data: data.base64 };
}
