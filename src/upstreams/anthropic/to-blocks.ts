import { isJsonObject } from '#base/json.ts';
import type { ContentPart, Message } from '#contract/message.ts';
import type { Base64Source, ContentBlock, DocumentBlock, ImageBlock, TextBlock, UrlSource } from '#contract/messages/dialect.ts';
import { readDataUrl, textOf } from '../prompt/data-url.ts';
import { refusal } from '../prompt/refusal.ts';

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
