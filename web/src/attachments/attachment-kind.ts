import { toEssence } from '#base/http/media-type.ts';
import type { ResponseAttachment } from '#contract/chat/chunk.ts';
import { toReferencePath } from '../service/service-path.ts';

/** An attachment of a reply or a question. */
export type DisplayedAttachment = Omit<ResponseAttachment, 'index'> & { readonly index?: number };

/** Display kind of an attachment. `link`: content from another host, which is named and not loaded. */
export type AttachmentKind = 'markdown' | 'image' | 'table' | 'chart' | 'pdf' | 'html' | 'audio' | 'text' | 'link' | 'file';

const byType: readonly (readonly [RegExp, AttachmentKind])[] = [
  [/^text\/(?:x-)?markdown$/, 'markdown'],
  [/^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/, 'image'],
  [/^text\/(?:csv|tab-separated-values)$/, 'table'],
  [/^application\/vnd\.plotly(?:\.|$)/, 'chart'],
  [/^application\/pdf$/, 'pdf'],
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^audio\//, 'audio'],
  [/^(?:text\/.+|application\/(?:json|xml|yaml|x-yaml|sql|javascript|typescript|.+\+json|.+\+xml))$/, 'text'],
];

/**
 * Returns the kind by location and type. An attachment without content and URL is a link to its reference, and one without a
 * usable type is a file.
 */
export function getAttachmentKind({ type, data, url }: DisplayedAttachment): AttachmentKind {
  if (data === undefined && (url === undefined || isExternal(url))) return 'link';
  const essence = toEssence(type ?? 'text/markdown');
  if (essence === undefined) return 'file';
  return byType.find(([pattern]) => pattern.test(essence))?.[1] ?? 'file';
}

/** Whether `data` is plain text instead of base64. */
export function isTextKind(kind: AttachmentKind, type: string | undefined): boolean {
  return ['markdown', 'table', 'chart', 'html', 'text'].includes(kind) || isSvg(type);
}

export function isSvg(type = ''): boolean {
  return toEssence(type) === 'image/svg+xml';
}

/**
 * Returns the type for the browser. It is never a type that the browser would show as a page of this service, regardless of the
 * type that the assistant declares.
 */
export function toBlobType(kind: AttachmentKind, type = ''): string {
  const isPreviewable = kind === 'image' || kind === 'audio' || kind === 'pdf';
  return (isPreviewable ? toEssence(type) : undefined) ?? 'application/octet-stream';
}

/** Whether the URL leads to content that is not embedded and not a stored file. The page never loads such content. */
const isExternal = (url: string): boolean => !/^data:/i.test(url) && toReferencePath(url) === undefined;

const extensions: Readonly<Record<string, string>> = {
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/csv': 'csv',
  'text/html': 'html',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
};

/** Returns the file extension for a type. */
export function getExtension(type: string): string {
  return extensions[toEssence(type) ?? ''] ?? 'bin';
}
