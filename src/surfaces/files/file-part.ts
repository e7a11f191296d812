import { ParleyError } from '#contract/errors.ts';
import { type PartHead, toPartHead } from './part-head.ts';
import { malformedForm, PieceReader } from './piece-reader.ts';

/** One part of a form, its bytes yet to come. */
export interface FormPart {
  /** As the part says; undefined where it says none. */
  readonly contentType: string | undefined;
  /** Throws `LaterPart` at their end if it turns out that another part is meant. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Thrown where a part was read that has a filename, and the one named `file` stands behind it. */
export class LaterPart extends Error {
  readonly part: FormPart;

  constructor(part: FormPart) {
    super('another part of the form is the file');
    this.name = 'LaterPart';
    this.part = part;
  }
}

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const maxPreambleBytes = 1024;
const maxHeadBytes = 8192;
/** Of other fields. */
const maxSkippedBytes = 16 * 1024 ** 2;

/** The boundary of a `multipart/form-data` body (RFC 2046, 5.1.1); undefined for other media types. Throws where it is missing or malformed. */
export function toBoundary(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? '')) return undefined;
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) throw malformedForm('its boundary is missing or malformed');
  return boundary;
}

/**
 * The part of a form (RFC 7578) that is the file: the one named `file`, else the first with a filename. What comes behind one named `file` is not
 * read. Throws `invalid_request`, also while its bytes are read.
 */
export async function readFilePart(body: AsyncIterable<Uint8Array>, boundary: string): Promise<FormPart> {
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
    const named = await reader.skipTo(({ name }) => name === 'file');
    if (named !== undefined) throw new LaterPart({ contentType: named.contentType, bytes: reader.content() });
  }
  return { contentType, bytes: bytes() };
}

/** Reads the parts of a form one behind the other. */
class FormReader {
  readonly #reader: PieceReader;
  readonly #delimiter: Buffer;
  #isAtEnd = false;
  #skipped = 0;

  constructor(body: AsyncIterable<Uint8Array>, boundary: string) {
    this.#reader = new PieceReader(body, lineEnd);
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  async begin(): Promise<void> {
    await this.#reader.before(this.#delimiter, maxPreambleBytes);
    if ((await this.#reader.exactly(2)) !== '\r\n') throw malformedForm('it has no part, or does not begin with its boundary');
  }

  /** Passes over parts; gives the head of the first that is meant, whose content comes next. Undefined at the end of the form. */
  async skipTo(isMeant: (head: PartHead) => boolean): Promise<PartHead | undefined> {
    while (!this.#isAtEnd) {
      const head = toPartHead(await this.#reader.before(headEnd, maxHeadBytes));
      if (isMeant(head)) return head;
      for await (const { length } of this.content()) {
        this.#skipped += length;
        if (this.#skipped > maxSkippedBytes) throw malformedForm('its fields beside the file are too large');
      }
    }
    return undefined;
  }

  /** The content of the part whose head was read last. */
  async *content(): AsyncGenerator<Uint8Array> {
    yield* this.#reader.piecesBefore(this.#delimiter);
    const behind = await this.#reader.exactly(2);
    if (behind !== '\r\n' && behind !== '--') throw malformedForm('its boundary stands within a part');
    this.#isAtEnd = behind === '--';
  }
}
