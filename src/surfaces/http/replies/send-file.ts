import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHttpRejection } from '#contract/errors/errors.ts';
import type { ByteRange } from '#domain/files/blob-store.ts';
import type { FileInfo } from '#domain/files/file-index.ts';
import type { OpenedFile, Selection } from '#services/files/stored-resources.ts';
import { isNotModified, isRangeCurrent } from '../conditions.ts';
import { disconnectStalled } from './event-stream.ts';

/**
 * Returns the part of a file that a GET or HEAD request needs. Throws `precondition_failed`, or 416 for a range beyond the end
 * of the file.
 */
export function toSelection({ method, headers }: FastifyRequest, reply: FastifyReply, file: FileInfo): Selection {
  if (isNotModified(headers, file) || method === 'HEAD') return 'none';
  const range = isRangeCurrent(headers, file) ? toRange(headers.range, file.contentLength) : undefined;
  if (range !== 'unsatisfiable') return range ?? 'complete';
  reply.header('content-range', `bytes */${file.contentLength}`);
  throw createHttpRejection(416, `The range is outside the file, which has ${file.contentLength} bytes.`, { param: 'range' });
}

/**
 * Parses a `Range` header with one range (RFC 9110, 14). Returns undefined, which selects the complete file, for several ranges
 * or an invalid range.
 */
function toRange(header: string | undefined, length: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (from === undefined || to === undefined || from + to === '') return undefined;
  if (from !== '' && to !== '' && Number(from) > Number(to)) return undefined;
  const first = from === '' ? Math.max(length - Number(to), 0) : Number(from);
  const last = from === '' || to === '' ? length - 1 : Math.min(Number(to), length - 1);
  return first > last ? 'unsatisfiable' : { first, last };
}

/** Sends a file as a download. Browsers never display or run it in the origin of this service, regardless of its media type. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, { file, selection, content }: OpenedFile): FastifyReply {
  reply.headers({
    etag: `"${file.etag}"`,
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  });
  if (selection === 'none' && isNotModified(request.headers, file)) return reply.code(304).send();
  reply.headers({
    'content-type': file.contentType,
    'content-disposition': toDisposition(file.path),
    'accept-ranges': 'bytes',
    'content-length': file.contentLength,
  });
  if (typeof selection === 'object') {
    const { first, last } = selection;
    reply.code(206).headers({
      'content-range': `bytes ${first}-${last}/${file.contentLength}`,
      'content-length': last - first + 1,
    });
  }
  disconnectStalled(reply.raw);
  return reply.send(content);
}

/** Returns both forms of the file name: Unicode (RFC 6266, 8187), and an ASCII fallback for old clients. */
function toDisposition(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const plain = name.replaceAll(/[^\w. -]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
