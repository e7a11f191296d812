import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors.ts';
import { fileTooLarge, type Upload } from '#domain/files/stored-resources.ts';
import { toBoundary } from '../http/form/form-reader.ts';
import { piecesOf } from '../http/request-pieces.ts';
import { toContentType } from './content-type.ts';
import { type FormPart, LaterPart, readFilePart } from './file-part.ts';

type Content = Omit<Upload, 'condition' | 'refusal'>;

/** Refuses a file that is announced too large. Of a form, only the part that is the file counts. */
export function refuseLargeFile({ headers }: IncomingMessage, maxBytes: number): void {
  const isForm = /^multipart\/form-data/i.test(headers['content-type'] ?? '');
  if (!isForm && Number(headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge(maxBytes);
}

/** Refuses a body that is not the file itself. */
export function requirePlain({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  throw new ParleyError('unsupported_media_type', 'The file must come without a content encoding.');
}

/**
 * Runs the work on the file in a body, raw or a part of a form, as it comes; again if only the end of a part shows that another one is
 * meant. Nothing of the body is kept.
 */
export async function withUpload<Result>(
  request: IncomingMessage,
  path: string,
  work: (content: Content) => Promise<Result>,
): Promise<Result> {
  const body = piecesOf(request);
  try {
    return await workOn(await toContent(request.headers, path, body), path, work);
  } finally {
    await body.return(undefined);
  }
}

async function workOn<Result>(content: Content, path: string, work: (content: Content) => Promise<Result>): Promise<Result> {
  try {
    return await work(content);
  } catch (thrown) {
    if (thrown instanceof LaterPart) return work(fromPart(thrown.part, path));
    throw thrown;
  }
}

async function toContent(headers: IncomingHttpHeaders, path: string, body: AsyncIterable<Uint8Array>): Promise<Content> {
  const { 'content-type': contentType, 'content-length': length } = headers;
  const boundary = toBoundary(contentType);
  const announcedBytes = length === undefined ? undefined : Number(length);
  if (boundary === undefined) return { contentType: toContentType(contentType, path), bytes: body, announcedBytes };
  return fromPart(await readFilePart(body, boundary), path);
}

function fromPart({ contentType, bytes }: FormPart, path: string): Content {
  return { contentType: toContentType(contentType, path), bytes, announcedBytes: undefined };
}
