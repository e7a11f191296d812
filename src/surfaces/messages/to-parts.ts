import { isJsonObject } from '#base/json/json.ts';
import type { ContentPart } from '#contract/chat/message.ts';
import type { Base64Source, ContentBlock, DocumentBlock, ImageBlock, KnownBlock, UrlSource } from '#contract/messages/dialect.ts';

/** A reference to Anthropic's file store, which other upstreams cannot read. */
interface FileSource {
  type: 'file';
  file_id: string;
}

export type TextPart = ContentPart & { type: 'text'; text: string };

/**
 * Converts content to chat completions parts. Preserves cache marks if `preservesMarks` is set. Omits blocks without a counterpart.
 */
export function toParts(content: string | readonly ContentBlock[], preservesMarks: boolean): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  return content.flatMap((block) => {
    const parts = toBlockParts(block as KnownBlock | OtherBlock, preservesMarks);
    const last = parts.at(-1);
    const { cache_control } = block;
    return preservesMarks && last !== undefined && isJsonObject(cache_control)
      ? [...parts.slice(0, -1), { ...last, cache_control }]
      : parts;
  });
}

/** Returns a string if all parts are text without cache marks, otherwise the parts. */
export function toContent(parts: readonly ContentPart[], between: string): string | ContentPart[] {
  const isPlain = parts.every((part) => isTextPart(part) && part.cache_control === undefined);
  return isPlain ? toText(parts, between) : [...parts];
}

export function toText(parts: readonly ContentPart[], between: string): string {
  return parts
    .filter(isTextPart)
    .map(({ text }) => text)
    .join(between);
}

/** Blocks that are converted to text. */
type OtherBlock =
  | { type: 'search_result'; title?: unknown; source?: unknown; content?: ContentBlock[] }
  | { type: 'tool_reference'; tool_name?: unknown }
  | { type: 'tool_addition' | 'tool_removal'; tool?: { name?: unknown } };

function toBlockParts(block: KnownBlock | OtherBlock, preservesMarks: boolean): ContentPart[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [textPart(block.text)];
    case 'image':
      return [toImage(block)];
    case 'document':
      return toDocument(block, preservesMarks);
    case 'search_result':
      return [textPart(`Search result "${block.title}" (${block.source}):`), ...toParts(block.content ?? [], preservesMarks)];
    case 'tool_reference':
      return [textPart(`The tool ${block.tool_name} can be called.`)];
    case 'tool_addition':
      return [textPart(`From here on the tool ${block.tool?.name} can be called.`)];
    case 'tool_removal':
      return [textPart(`From here on the tool ${block.tool?.name} must not be called.`)];
    default:
      return [];
  }
}

function toImage({ source }: ImageBlock): ContentPart {
  const from: Base64Source | UrlSource | FileSource = source;
  if (from.type === 'base64') return imagePart(`data:${from.media_type};base64,${from.data}`);
  if (from.type === 'url') return imagePart(from.url);
  return textPart(`Image: ${getName(from)}`);
}

function toDocument({ source, title, context }: DocumentBlock, preservesMarks: boolean): ContentPart[] {
  const from: DocumentBlock['source'] | FileSource = source;
  const name = title ? `Document "${title}"` : 'Document';
  const about = context ? [textPart(`About ${name}: ${context}`)] : [];
  switch (from.type) {
    case 'base64':
      return [...about, filePart(title, from)];
    case 'text':
      return [...about, textPart(`${name}:\n${from.data}`)];
    case 'content':
      return [...about, textPart(`${name}:`), ...toParts(from.content, preservesMarks)];
    case 'url':
      return [...about, textPart(`${name}: ${from.url}`)];
    default:
      return [...about, textPart(`${name}: ${getName(from)}`)];
  }
}

function getName({ file_id }: FileSource): string {
  return typeof file_id === 'string' ? `file ${file_id}` : 'in a form that cannot be read here';
}

function filePart(title: string | null | undefined, { media_type, data }: Base64Source): ContentPart {
  return { type: 'file', file: { filename: title || 'document.pdf', file_data: `data:${media_type};base64,${data}` } };
}

function imagePart(url: string): ContentPart {
  return { type: 'image_url', image_url: { url } };
}

export function textPart(text: string): TextPart {
  return { type: 'text', text };
}

export function isTextPart(part: ContentPart): part is TextPart {
  return part.type === 'text';
}
