import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { toEssence } from '#base/http/media-type.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { fileTooLarge, type Upload } from '#services/files/stored-resources.ts';
import { FormReader, type PartHead, readPieces, toBoundary } from '../http/form/form-reader.ts';

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
  const announcedBytes = length === undefined ? undefined : Number(length);
  if (boundary === undefined) return { contentType: toContentType(contentType, path), bytes: body, announcedBytes };
  return fromPart(await readFilePart(body, boundary), path);
}

function fromPart({ contentType, bytes }: FormPart, path: string): Content {
  return { contentType: toContentType(contentType, path), bytes, announcedBytes: undefined };
}

/** What programs say that were not told: of a file it is never true. */
const unmeant = 'application/x-www-form-urlencoded';

const byExtension: ReadonlyMap<string, string> = new Map([
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

/** The media type a file is stored with: the one it was sent with, else the one its name stands for. Throws `unsupported_media_type`. */
function toContentType(sent: string | undefined, path: string): string {
  const type = sent?.trim() ?? '';
  const essence = toEssence(type);
  if (type === '' || essence === unmeant) {
    const [, extension = ''] = /\.([^./]+)$/.exec(path) ?? [];
    return byExtension.get(extension.toLowerCase()) ?? 'application/octet-stream';
  }
  if (essence !== undefined) return type;
  throw new ParleyError('unsupported_media_type', 'The Content-Type of the file is no media type.', { param: 'content-type' });
}

/** One part of a form, its bytes yet to come. */
interface FormPart {
  /** As the part says; undefined where it says none. */
  readonly contentType: string | undefined;
  /** Throws `LaterPart` at their end if it turns out that another part is meant. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Thrown where a part was read that has a filename, and the one named `file` stands behind it. */
class LaterPart extends Error {
  readonly part: FormPart;

  constructor(part: FormPart) {
    super('another part of the form is the file');
    this.name = 'LaterPart';
    this.part = part;
  }
}

/**
 * The part of a form (RFC 7578) that is the file: the one named `file`, else the first with a filename. What comes behind one named `file` is not
 * read. Throws `invalid_request`, also while its bytes are read.
 */
async function readFilePart(body: AsyncIterable<Uint8Array>, boundary: string): Promise<FormPart> {
  const reader = new FormReader(body, boundary);
  await reader.begin();
  const head = await reader.skipTo(({ name, filename }) => name === 'file' || filename !== '');
  if (head === undefined)
    throw new ParleyError('invalid_request', 'The form has no part named file, and none with a filename.', { param: 'file' });
  return head.name === 'file' ? { contentType: head.contentType, bytes: reader.content() } : untilNamed(reader, head);
}

/** A part that is the file unless one named `file` follows. */
function untilNamed(reader: FormReader, { contentType }: PartHead): FormPart {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* reader.content();
    const filePart = await reader.skipTo(({ name }) => name === 'file');
    if (filePart !== undefined) throw new LaterPart({ contentType: filePart.contentType, bytes: reader.content() });
  }
  return { contentType, bytes: bytes() };
}
