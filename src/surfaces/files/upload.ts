import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { toEssence } from '#base/http/media-type.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createFileTooLargeError, type Upload } from '#services/files/stored-resources.ts';
import { FormReader, type PartHead, readPieces, toBoundary } from '../http/form/form-reader.ts';

type Content = Omit<Upload, 'condition' | 'refusal'>;

/**
 * Throws if the announced length of the file exceeds `maxBytes`. A form is not checked here, because only the part with the file
 * counts.
 */
export function rejectLargeFile({ headers }: IncomingMessage, maxBytes: number): void {
  const isForm = /^multipart\/form-data/i.test(headers['content-type'] ?? '');
  if (!isForm && Number(headers['content-length'] ?? 0) > maxBytes) throw createFileTooLargeError(maxBytes);
}

/**
 * Runs `work` on the file while the body arrives, without buffering it. The file is the body, or a part of a form. Runs `work`
 * again if a part named `file` follows the part that was read first.
 */
export async function withUpload<Result>(
  request: IncomingMessage,
  path: string,
  work: (content: Content) => Promise<Result>,
): Promise<Result> {
  const body = readPieces(request);
  try {
    return await workOn(await toContent(request.headers, path, body), path, work);
  } finally {
    await body.return(undefined);
  }
}

async function workOn<Result>(content: Content, path: string, work: (content: Content) => Promise<Result>): Promise<Result> {
  try {
    return await work(content);
  } catch (error) {
    if (error instanceof LaterPart) return work(fromPart(error.part, path));
    throw error;
  }
}

async function toContent(headers: IncomingHttpHeaders, path: string, body: AsyncIterable<Uint8Array>): Promise<Content> {
  const { 'content-type': contentType, 'content-length': length } = headers;
  const boundary = toBoundary(contentType);
  const declaredBytes = length === undefined ? undefined : Number(length);
  if (boundary === undefined) return { contentType: toContentType(contentType, path), bytes: body, declaredBytes };
  return fromPart(await readFilePart(body, boundary), path);
}

function fromPart({ contentType, bytes }: FormPart, path: string): Content {
  return { contentType: toContentType(contentType, path), bytes, declaredBytes: undefined };
}

/** Content type that some clients, such as curl, send by default. It does not describe the file. */
const defaultFormType = 'application/x-www-form-urlencoded';

const typesByExtension: ReadonlyMap<string, string> = new Map([
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
]);

/**
 * Returns the media type to store: the sent type, or the type of the file extension if no usable type was sent. Throws
 * `unsupported_media_type`.
 */
function toContentType(sentType: string | undefined, path: string): string {
  const type = sentType?.trim() ?? '';
  const essence = toEssence(type);
  if (type === '' || essence === defaultFormType) {
    const [, extension = ''] = /\.([^./]+)$/.exec(path) ?? [];
    return typesByExtension.get(extension.toLowerCase()) ?? 'application/octet-stream';
  }
  if (essence !== undefined) return type;
  throw new ParleyError('unsupported_media_type', 'The Content-Type of the file is not a valid media type.', {
    param: 'content-type',
  });
}

/** Part of a form whose bytes have not been read. */
interface FormPart {
  /** Content type of the part. Undefined if the part has none. */
  readonly contentType: string | undefined;
  /** Throws `LaterPart` at the end if a part named `file` follows. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Thrown after a part with a filename was read, if a part named `file` follows it. */
class LaterPart extends Error {
  readonly part: FormPart;

  constructor(part: FormPart) {
    super('another part of the form is the file');
    this.name = 'LaterPart';
    this.part = part;
  }
}

/**
 * Returns the part of a form (RFC 7578) that is the file: the part named `file`, or the first part with a filename. Parts after
 * the one named `file` are not read. Throws `invalid_request`, also while the bytes of the part are read.
 */
async function readFilePart(body: AsyncIterable<Uint8Array>, boundary: string): Promise<FormPart> {
  const reader = new FormReader(body, boundary);
  await reader.skipPreamble();
  const head = await reader.skipTo(({ name, filename }) => name === 'file' || filename !== '');
  if (head === undefined)
    throw new ParleyError('invalid_request', 'The form has no part named file and no part with a filename.', { param: 'file' });
  return head.name === 'file' ? { contentType: head.contentType, bytes: reader.content() } : createUnnamedPart(reader, head);
}

/** Returns the part. Its bytes end with a `LaterPart` error if a part named `file` follows. */
function createUnnamedPart(reader: FormReader, { contentType }: PartHead): FormPart {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* reader.content();
    const filePart = await reader.skipTo(({ name }) => name === 'file');
    if (filePart !== undefined) throw new LaterPart({ contentType: filePart.contentType, bytes: reader.content() });
  }
  return { contentType, bytes: bytes() };
}
