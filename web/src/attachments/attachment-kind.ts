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

/** References of an SVG to its own parts, and characters that can hide one. */
const svgReference = /[<:]use[\s/>]|url\(|&#|\\/gi;
/** With fewer references, nested parts repeat less than 100,000 times. */
const maxSvgReferences = 30;

/** Whether the parts of an SVG can repeat billions of times, so that drawing it freezes the page. */
export function canFreezePage(svg: string): boolean {
  // In UTF-16, every second byte of these characters is 0.
  const plain = svg.replaceAll('\0', '');
  return /<!ENTITY/i.test(plain) || (plain.match(svgReference)?.length ?? 0) > maxSvgReferences;
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
