import { isJsonObject } from '#base/json/json.ts';
import { isTextPart, toContent, toText, toTextPart } from '#contract/chat/content.ts';
import { isFunctionCallId, maxFunctionNameChars, toHashedName } from '#contract/chat/function-calling.ts';
import { type ContentPart, type CustomContent, type Message, toolOutput } from '#contract/chat/message.ts';
import type {
  Base64Source,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
  KnownBlock,
  MessageParam,
  RedactedThinkingBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  UrlSource,
} from '#contract/messages/dialect.ts';
import type { UpstreamCapabilities } from './unsupported-fields.ts';

/** Tool names of a request. Shortens names that are too long for chat completions, and restores them in the reply. */
export class ToolNames {
  /** Original names by shortened name. */
  readonly #originalNames = new Map<string, string>();

  shorten(name: string): string {
    if (name.length <= maxFunctionNameChars) return name;
    const short = toHashedName(name, name);
    this.#originalNames.set(short, name);
    return short;
  }

  restore(name: string): string {
    return this.#originalNames.get(name) ?? name;
  }
}

/** Tool names of a request, and capabilities of its upstreams. */
export interface TranslationContext {
  readonly names: ToolNames;
  readonly capabilities: UpstreamCapabilities;
}

/** Separator between several texts of one message. */
const paragraphBreak = '\n\n';

/** State of the translation of one conversation. */
interface TranslationState {
  /** Names of called tools, by call ID. */
  readonly calledNames: Map<string, string>;
  /** Whether to preserve prompt cache breakpoints. */
  readonly preservesCacheControl: boolean;
}

/** Converts a conversation to chat completions messages. */
export function toMessages(params: readonly MessageParam[], { names, capabilities }: TranslationContext): Message[] {
  const state: TranslationState = { calledNames: new Map(), preservesCacheControl: capabilities.acceptsCacheControl };
  return params.flatMap(({ role, content, parley }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
    const custom = (parley as { custom_content?: CustomContent } | undefined)?.custom_content;
    if ((role as string) === 'system') return [toSystemMessage(blocks, state.preservesCacheControl)];
    if (role === 'user') return toUserMessages(blocks, custom, state);
    for (const { id, name } of blocks.filter(isToolUse)) state.calledNames.set(id, names.shorten(name));
    return [toAssistantMessage(blocks, custom, state)];
  });
}

export function toSystemMessage(blocks: readonly ContentBlock[], preservesCacheControl: boolean): Message {
  return { role: 'system', content: toContent(toParts(blocks, preservesCacheControl).filter(isTextPart), paragraphBreak) };
}

/** Converts a user message. Tool results must follow their calls, so they come first. Their images and files come next. */
function toUserMessages(
  blocks: readonly ContentBlock[],
  custom: CustomContent | undefined,
  { calledNames, preservesCacheControl }: TranslationState,
): Message[] {
  const messages: Message[] = [];
  const parts: ContentPart[] = [];
  for (const block of blocks.filter(isToolResult)) {
    const contentParts = toParts(block.content ?? [], preservesCacheControl);
    messages.push(toResultMessage(block, contentParts, { calledNames, preservesCacheControl }));
    const otherParts = contentParts.filter((part) => !isTextPart(part));
    if (otherParts.length === 0) continue;
    const heading = toTextPart(`From the result of ${calledNames.get(block.tool_use_id) ?? 'a tool'}:`);
    parts.push(heading, ...otherParts.map((part) => ({ ...part, [toolOutput]: true })));
  }
  const otherBlocks = blocks.filter((block) => !isToolResult(block));
  parts.push(...toParts(otherBlocks, preservesCacheControl));
  if (parts.length > 0 || custom !== undefined || messages.length === 0) {
    messages.push({ role: 'user', content: toContent(parts, paragraphBreak), ...(custom && { custom_content: custom }) });
  }
  return messages;
}

function toResultMessage(
  { tool_use_id: id, is_error, cache_control: resultBreakpoint }: ToolResultBlock,
  contentParts: readonly ContentPart[],
  { calledNames, preservesCacheControl }: TranslationState,
): Message {
  const text = `${is_error ? 'The tool failed: ' : ''}${toText(contentParts, paragraphBreak)}`;
  const breakpoint = resultBreakpoint ?? contentParts.findLast(({ cache_control }) => cache_control)?.cache_control;
  const content = preservesCacheControl && breakpoint ? [{ ...toTextPart(text), cache_control: breakpoint }] : text;
  const name = calledNames.get(id);
  return name !== undefined && isFunctionCallId(id)
    ? { role: 'function', name, content: text }
    : { role: 'tool', tool_call_id: id, content };
}

/** Converts thinking to fields that a protocol removes later if its upstream does not accept them. */
function toAssistantMessage(
  blocks: readonly ContentBlock[],
  custom: CustomContent | undefined,
  { calledNames, preservesCacheControl }: TranslationState,
): Message {
  const calls = blocks.filter(isToolUse).map(({ id, input }) => ({
    id,
    type: 'function',
    function: { name: calledNames.get(id) ?? '', arguments: JSON.stringify(input) },
  }));
  const thoughts = blocks.filter(isSignedThought);
  const reasoning = blocks
    .filter(isPlainThought)
    .map(({ thinking }) => thinking)
    .join('');
  const texts = blocks.filter(({ type }) => type === 'text');
  const content = toContent(toParts(texts, preservesCacheControl), '');
  const [first] = calls;
  return {
    role: 'assistant',
    content: content === '' && first !== undefined ? null : content,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thoughts.length > 0 && { thinking_blocks: thoughts }),
    ...(first !== undefined && (isFunctionCallId(first.id) ? { function_call: first.function } : { tool_calls: calls })),
    ...(custom && { custom_content: custom }),
  };
}

function isToolUse(block: ContentBlock): block is ToolUseBlock {
  return block.type === 'tool_use';
}

function isToolResult(block: ContentBlock): block is ToolResultBlock {
  return block.type === 'tool_result';
}

/** Returns whether the block is unsigned thinking, which comes from `reasoning_content` of a model without signatures. */
function isPlainThought(block: ContentBlock): block is ThinkingBlock {
  return block.type === 'thinking' && block.signature === '';
}

function isSignedThought(block: ContentBlock): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === 'redacted_thinking' || (block.type === 'thinking' && block.signature !== '');
}

/** A reference to Anthropic's file store, which other upstreams cannot read. */
interface FileSource {
  type: 'file';
  file_id: string;
}

/** Converts content to chat completions parts. Omits blocks without a counterpart. */
function toParts(content: string | readonly ContentBlock[], preservesCacheControl: boolean): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [toTextPart(content)];
  return content.flatMap((block) => {
    const parts = toBlockParts(block as KnownBlock | OtherBlock, preservesCacheControl);
    const last = parts.at(-1);
    const { cache_control } = block;
    return preservesCacheControl && last !== undefined && isJsonObject(cache_control)
      ? [...parts.slice(0, -1), { ...last, cache_control }]
      : parts;
  });
}

/** Blocks that `KnownBlock` lacks. They are converted to text. */
type OtherBlock =
  | { type: 'search_result'; title?: unknown; source?: unknown; content?: ContentBlock[] }
  | { type: 'tool_reference'; tool_name?: unknown }
  | { type: 'tool_addition' | 'tool_removal'; tool?: { name?: unknown } };

function toBlockParts(block: KnownBlock | OtherBlock, preservesCacheControl: boolean): ContentPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [toTextPart(block.text)];
    case 'image':
      return [toImage(block)];
    case 'document':
      return toDocument(block, preservesCacheControl);
    case 'search_result':
      return [
        toTextPart(`Search result "${block.title}" (${block.source}):`),
        ...toParts(block.content ?? [], preservesCacheControl),
      ];
    case 'tool_reference':
      return [toTextPart(`The tool ${block.tool_name} can be called.`)];
    case 'tool_addition':
      return [toTextPart(`From here on the tool ${block.tool?.name} can be called.`)];
    case 'tool_removal':
      return [toTextPart(`From here on the tool ${block.tool?.name} must not be called.`)];
    default:
      return [];
  }
}

function toImage({ source }: ImageBlock): ContentPart {
  const from: Base64Source | UrlSource | FileSource = source;
  if (from.type === 'base64') return imagePart(`data:${from.media_type};base64,${from.data}`);
  if (from.type === 'url') return imagePart(from.url);
  return toTextPart(`Image: ${describeFile(from)}`);
}

function toDocument({ source, title, context }: DocumentBlock, preservesCacheControl: boolean): ContentPart[] {
  const from: DocumentBlock['source'] | FileSource = source;
  const name = title ? `Document "${title}"` : 'Document';
  const about = context ? [toTextPart(`About ${name}: ${context}`)] : [];
  switch (from.type) {
    case 'base64':
      return [...about, filePart(title, from)];
    case 'text':
      return [...about, toTextPart(`${name}:\n${from.data}`)];
    case 'content':
      return [...about, toTextPart(`${name}:`), ...toParts(from.content, preservesCacheControl)];
    case 'url':
      return [...about, toTextPart(`${name}: ${from.url}`)];
    default:
      return [...about, toTextPart(`${name}: ${describeFile(from)}`)];
  }
}

function describeFile({ file_id }: FileSource): string {
  return typeof file_id === 'string' ? `file ${file_id}` : 'in a form that cannot be read here';
}

function filePart(title: string | null | undefined, { media_type, data }: Base64Source): ContentPart {
  return { type: 'file', file: { filename: title || 'document.pdf', file_data: `data:${media_type};base64,${data}` } };
}

function imagePart(url: string): ContentPart {
  return { type: 'image_url', image_url: { url } };
}
