import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { ContentPart, Message } from '#contract/chat/message.ts';
import { createUnsupportedError } from '#domain/upstreams/upstream-error.ts';
import { decodeInlineText, readDataUrl } from '../prompt/data-url.ts';
import { isBlank } from '../prompt/message-calls.ts';
import type { Vendor } from './vendor.ts';

export type Part = LanguageModelV4TextPart | LanguageModelV4FilePart;

const typesByExtension: ReadonlyMap<string, string> = new Map([
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

/**
 * Converts the content of a message. Drops blank texts, because vendors reject them. Throws `UpstreamError` 400 for a part that the
 * vendor does not support.
 */
export function toParts(content: Message['content'], path: string, vendor: Vendor): Part[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
  const parts = (content ?? []).map((part, position) => ({
    ...toPart(part, `${path}[${position}]`, vendor),
    ...toCachePoint(part, vendor),
  }));
  return parts.filter((part) => part.type !== 'text' || !isBlank(part.text));
}

/** Converts content that can contain only text. Throws `UpstreamError` 400 for a file. */
export function toTexts(content: Message['content'], path: string, vendor: Vendor): LanguageModelV4TextPart[] {
  return toParts(content, path, vendor).map((part) => {
    if (part.type === 'text') return part;
    throw createUnsupportedError('files in this message', path);
  });
}

function toPart(part: ContentPart, path: string, vendor: Vendor): Part {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: toText(part[part.type]) };
    case 'image_url':
      return toImage(part.image_url, path, vendor);
    case 'input_audio':
      return toAudio(toObject(part.input_audio), path, vendor);
    case 'file':
      return toDocument(toObject(part.file), path, vendor);
    default:
      throw createUnsupportedError(`a part of the type ${part.type}`, path);
  }
}

function toImage(image: unknown, path: string, vendor: Vendor): Part {
  return toFile(isJsonObject(image) ? image.url : image, { path, vendor, fallbackType: 'image/jpeg' });
}

function toAudio({ data, format }: JsonObject, path: string, vendor: Vendor): Part {
  if (typeof data !== 'string' || typeof format !== 'string') throw createUnsupportedError('audio without data and format', path);
  return toFile(`data:audio/${format};base64,${data}`, { path, vendor, fallbackType: '' });
}

function toDocument({ file_data: data, file_id: id, filename }: JsonObject, path: string, vendor: Vendor): Part {
  const nameField = typeof filename === 'string' ? { filename } : {};
  if (typeof id === 'string') {
    if (!vendor.acceptsFileIds) throw createUnsupportedError('a file ID', path);
    const mediaType = getMediaType(filename, 'application/pdf');
    return { type: 'file', mediaType, data: { type: 'reference', reference: { google: id } } };
  }
  if (typeof data !== 'string') throw createUnsupportedError('a file without data', path);
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(data);
  const url = isUrl ? data : `data:application/pdf;base64,${data}`;
  const part = toFile(url, { path, vendor, fallbackType: 'application/pdf', title: filename });
  return part.type === 'file' ? { ...part, ...nameField } : part;
}

interface FileContext {
  readonly path: string;
  readonly vendor: Vendor;
  /** Media type if the URL has no known extension. */
  readonly fallbackType: string;
  readonly title?: unknown;
}

function toFile(source: unknown, context: FileContext): Part {
  const { path, vendor } = context;
  if (typeof source !== 'string') throw createUnsupportedError('an image without a URL', path);
  if (/^data:/i.test(source)) return toInlineFile(source, context);
  if (!URL.canParse(source)) throw createUnsupportedError('an invalid URL', path);
  const url = new URL(source);
  if (!vendor.canFetch(url)) throw createUnsupportedError(`files at ${url.protocol}// URLs (send the data inline)`, path);
  return { type: 'file', mediaType: getMediaType(url.pathname, context.fallbackType), data: { type: 'url', url } };
}

/** Converts a data URL. A text file of a type that the vendor does not accept becomes text. */
function toInlineFile(dataUrl: string, { path, vendor, title }: FileContext): Part {
  const data = readDataUrl(dataUrl);
  if (data === undefined) throw createUnsupportedError('a data: URL without data', path);
  const { mediaType, base64 } = data;
  if (vendor.acceptsFile(mediaType)) return { type: 'file', mediaType, data: { type: 'data', data: base64 } };
  const text = decodeInlineText(data);
  if (text === undefined) throw createUnsupportedError(`files of the type ${mediaType}`, path);
  return { type: 'text', text: typeof title === 'string' ? `${title}:\n${text}` : text };
}

function getMediaType(name: unknown, fallbackType: string): string {
  const extension = typeof name === 'string' ? name.slice(name.lastIndexOf('.') + 1).toLowerCase() : '';
  return typesByExtension.get(extension) ?? fallbackType;
}

/** Converts `cache_control` to a cache point of the Converse API, which ends the cached prompt after this part. */
function toCachePoint({ cache_control: cacheControl }: ContentPart, vendor: Vendor): Pick<Part, 'providerOptions'> {
  if (!isJsonObject(cacheControl) || !vendor.hasCachePoints) return {};
  const ttl = typeof cacheControl.ttl === 'string' ? { ttl: cacheControl.ttl } : {};
  return { providerOptions: { [vendor.namespace]: { cachePoint: { type: 'default', ...ttl } } } };
}
