import type { Strings } from '../locales/en/page.ts';
import type { Service } from '../service/service.ts';
import type { ErrorDetails } from '../service/service-error.ts';
import { describeError } from '../strings/describe-error.ts';
import { type DisplayedAttachment, getAttachmentKind, isSvg, isTextKind, toBlobType } from './attachment-kind.ts';

/**
 * Reads the content from the attachment itself or from the stored files. Throws if it cannot be read, or if it does not match its
 * declared type.
 */
export async function readContent(service: Service, attachment: DisplayedAttachment): Promise<Blob> {
  const kind = getAttachmentKind(attachment);
  const content = new Blob([await loadContent(service, attachment)], { type: toBlobType(kind, attachment.type) });
  if (kind === 'pdf' && !(await content.slice(0, 1024).text()).includes('%PDF-')) throw new Error('The content is not a PDF.');
  return content;
}

/** Describes why the stored file of a source cannot be read. */
export function describeFileError(error: ErrorDetails, strings: Strings): string {
  if (error.status === 403) return strings.fileForbidden;
  return error.status === 404 ? strings.fileUnavailable : describeError(error, strings);
}

async function loadContent(service: Service, attachment: DisplayedAttachment): Promise<BlobPart> {
  const { type = 'text/markdown', data, url = '' } = attachment;
  if (data !== undefined) {
    const isText = isTextKind(getAttachmentKind(attachment), type) && !(isSvg(type) && !data.trimStart().startsWith('<'));
    return isText ? data : fromBase64(data);
  }
  if (/^data:/i.test(url)) return fromDataUrl(url);
  const response = await service.sendReference(url);
  return response.arrayBuffer();
}

function fromDataUrl(url: string): BlobPart {
  const comma = url.indexOf(',');
  const [mediaType, data] = [url.slice(0, comma), url.slice(comma + 1)];
  return /;base64$/i.test(mediaType) ? fromBase64(data) : decodeURIComponent(data);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
}
