import type { LanguageModelV4FilePart, LanguageModelV4TextPart, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { isJsonObject } from '#base/json/json.ts';
import type { ContentPart, Message } from '#contract/chat/message.ts';
import { readDataUrl, textOf } from '../prompt/data-url.ts';
import { refusal } from '../prompt/refusal.ts';
import type { Dialect } from './dialect.ts';

export type Part = LanguageModelV4TextPart | LanguageModelV4FilePart;

const typesByEnding: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
]);

/** The parts of a message's content, without blank texts, which vendors refuse. Throws UpstreamFault 400 for a part that the vendor has nothing for. */
export function toParts(content: Message['content'], at: string, dialect: Dialect): Part[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const parts = (content ?? []).map((part, position) =>
    withCachePoint(part, toPart(part, `${at}[${position}]`, dialect), dialect),
  );
  return parts.filter((part) => part.type !== 'text' || !isBlank(part.text));
}

/** The same for content that can only be text. */
export function toTexts(content: Message['content'], at: string, dialect: Dialect): LanguageModelV4TextPart[] {
  return toParts(content, at, dialect).map((part) => {
    if (part.type === 'text') return part;
    throw refusal('files in this message', at);
  });
}

function toPart(part: ContentPart, at: string, dialect: Dialect): Part {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: toText(part[part.type]) };
    case 'image_url':
      return toFile(isJsonObject(part.image_url) ? part.image_url.url : part.image_url, { at, dialect, otherwise: 'image/jpeg' });
    case 'input_audio':
      return toAudio(isJsonObject(part.input_audio) ? part.input_audio : {}, at, dialect);
    case 'file':
      return toDocument(isJsonObject(part.file) ? part.file : {}, at, dialect);
    default:
      throw refusal(`a part of the type ${part.type}`, at);
  }
}

function toAudio({ data, format }: { readonly [key: string]: unknown }, at: string, dialect: Dialect): Part {
  if (typeof data !== 'string' || typeof format !== 'string') throw refusal('audio without data and format', at);
  return toFile(`data:audio/${format};base64,${data}`, { at, dialect, otherwise: '' });
}

function toDocument(file: { readonly [key: string]: unknown }, at: string, dialect: Dialect): Part {
  const { file_data: data, file_id: id, filename } = file;
  const named = typeof filename === 'string' ? { filename } : {};
  if (typeof id === 'string') {
    if (dialect.name !== 'gemini') throw refusal('a file by its id', at);
    return {
      type: 'file',
      mediaType: typeOf(filename, 'application/pdf'),
      data: { type: 'reference', reference: { google: id } },
    };
  }
  if (typeof data !== 'string') throw refusal('a file without data', at);
  const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(data);
  const url = isAddress ? data : `data:application/pdf;base64,${data}`;
  const part = toFile(url, { at, dialect, otherwise: 'application/pdf', title: filename });
  return part.type === 'file' ? { ...part, ...named } : part;
}

interface FileFacts {
  readonly at: string;
  readonly dialect: Dialect;
  /** Its media type if the address does not have it. */
  readonly otherwise: string;
  readonly title?: unknown;
}

function toFile(address: unknown, facts: FileFacts): Part {
  const { at, dialect } = facts;
  if (typeof address !== 'string') throw refusal('an image without an address', at);
  if (/^data:/i.test(address)) return toInlineFile(address, facts);
  if (!URL.canParse(address)) throw refusal('an address that is none', at);
  const url = new URL(address);
  if (!dialect.fetches(url)) throw refusal(`files at an address of the kind ${url.protocol}// (send the data itself)`, at);
  return { type: 'file', mediaType: typeOf(url.pathname, facts.otherwise), data: { type: 'url', url } };
}

/** Text that is no file to the vendor is sent as text. */
function toInlineFile(address: string, { at, dialect, title }: FileFacts): Part {
  const data = readDataUrl(address);
  if (data === undefined) throw refusal('a data: address without data', at);
  const { mediaType, base64 } = data;
  if (dialect.takesFile(mediaType)) return { type: 'file', mediaType, data: { type: 'data', data: base64 } };
  const text = textOf(data);
  if (text === undefined) throw refusal(`files of the type ${mediaType}`, at);
  return { type: 'text', text: typeof title === 'string' ? `${title}:\n${text}` : text };
}

function typeOf(name: unknown, otherwise: string): string {
  const ending = typeof name === 'string' ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  return typesByEnding.get(ending) ?? otherwise;
}

/** `cache_control` as the Converse API has it: a point behind the part up to which the prompt is cached. */
function cachePointOf({ cache_control: asked }: ContentPart, dialect: Dialect) {
  if (!isJsonObject(asked) || dialect.name !== 'bedrock') return {};
  const ttl = typeof asked.ttl === 'string' ? { ttl: asked.ttl } : {};
  const providerOptions: SharedV4ProviderOptions = { [dialect.namespace]: { cachePoint: { type: 'default', ...ttl } } };
  return { providerOptions };
}

function withCachePoint(given: ContentPart, part: Part, dialect: Dialect): Part {
  return { ...part, ...cachePointOf(given, dialect) };
}

function toText(text: unknown): string {
  return typeof text === 'string' ? text : '';
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
