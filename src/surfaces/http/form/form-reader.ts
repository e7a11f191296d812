import { type PartHead, toPartHead } from './part-head.ts';
import { malformedForm, PieceReader } from './piece-reader.ts';

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const maxPreambleBytes = 1024;
const maxHeadBytes = 8192;
/** Of other fields. */
const maxSkippedBytes = 16 * 1024 ** 2;

/** The boundary of a `multipart/form-data` body (RFC 2046, 5.1.1); undefined for other media types. Throws where it is missing or malformed. */
export function toBoundary(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? '')) return undefined;
  // Pattern bound: a header of at most 16 kB, where a quotation mark ends the search of the one before.
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) throw malformedForm('its boundary is missing or malformed');
  return boundary;
}

/** Reads the parts of a form (RFC 7578) one behind the other. Its methods throw `invalid_request`. */
export class FormReader {
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
