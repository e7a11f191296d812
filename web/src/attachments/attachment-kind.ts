import { toEssence } from '#base/http/media-type.ts';
import type { ResponseAttachment } from '#contract/chat/chunk.ts';
import { toReferencePath } from '../service/service-path.ts';

/** An attachment of a reply, or of a question. */
export type DisplayedAttachment = Omit<ResponseAttachment, 'index'> & { readonly index?: number };

/** How an attachment is shown. `link`: something elsewhere, which is named and not loaded. */
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

/** By where it is and by its type; what names neither content nor place is a link to its reference, what has no good type a file. */
export function getAttachmentKind({ type, data, url }: DisplayedAttachment): AttachmentKind {
  if (data === undefined && (url === undefined || isExternal(url))) return 'link';
  const essence = toEssence(type ?? 'text/markdown');
  if (essence === undefined) return 'file';
  return byType.find(([pattern]) => pattern.test(essence))?.[1] ?? 'file';
}

/** Whether `data` is text as it stands, and not base64. */
export function isTextKind(kind: AttachmentKind, type: string | undefined): boolean {
  return ['markdown', 'table', 'chart', 'html', 'text'].includes(kind) || isDrawing(type);
}

/** Whether it is an image in XML. */
export function isDrawing(type = ''): boolean {
  return toEssence(type) === 'image/svg+xml';
}

/**
 * The type that a browser is told of the content: never one that it would show as a page of this service, whatever an assistant
 * says it is.
 */
export function toBlobType(kind: AttachmentKind, type = ''): string {
  const isPreviewable = kind === 'image' || kind === 'audio' || kind === 'pdf';
  return (isPreviewable ? toEssence(type) : undefined) ?? 'application/octet-stream';
}

/** Whether an address leads beyond this service: such content is never loaded by the page. */
function isExternal(url: string): boolean {
  return !/^data:/i.test(url) && toReferencePath(url) === undefined;
}

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

/** The ending of a file of this type. */
export function getExtension(type: string): string {
  return extensions[toEssence(type) ?? ''] ?? 'bin';
}
