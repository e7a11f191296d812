import type { Service } from '../service/service.ts';
import { isTextKind, kindOf, type ShownAttachment } from './kind-of.ts';

/** The content of an attachment, out of itself or out of the stored files. Throws where it cannot be read. */
export async function readContent(service: Service, attachment: ShownAttachment): Promise<Blob> {
  const { type = 'text/markdown', data, url = '' } = attachment;
  if (data !== undefined) {
    const isText = isTextKind(kindOf(attachment), type) && !(/svg\+xml/i.test(type) && !data.trimStart().startsWith('<'));
    return new Blob([isText ? data : fromBase64(data)], { type });
  }
  if (/^data:/i.test(url)) return fromDataUrl(url, type);
  const response = await service.send(`v1/${url}`);
  return new Blob([await response.arrayBuffer()], { type });
}

function fromDataUrl(url: string, type: string): Blob {
  const comma = url.indexOf(',');
  const [head, body] = [url.slice(0, comma), url.slice(comma + 1)];
  return new Blob([/;base64$/i.test(head) ? fromBase64(body) : decodeURIComponent(body)], { type });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
    letter.charCodeAt(0),
  );
}
