import type { IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors/errors.ts';

const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const maxPreambleBytes = 1024;
const maxHeadBytes = 8192;
/** Maximum total size of all fields before the file. */
const maxSkippedBytes = 16 * 1024 ** 2;
const lingerMs = 5_000;

/**
 * Returns the boundary of a `multipart/form-data` body (RFC 2046, 5.1.1). Undefined for other media types. Throws
 * `invalid_request` if the boundary is missing or malformed.
 */
export function toBoundary(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? '')) return undefined;
  // Pattern bound: a header of at most 16 kB, in which each quotation mark ends the search that the previous one started.
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) throw malformedForm('the boundary is missing or malformed');
  return boundary;
}

/** Reads the parts of a form (RFC 7578) in order. Its methods throw `invalid_request`. */
export class FormReader {
  readonly #reader: PieceReader;
  readonly #delimiter: Buffer;
  #isAtEnd = false;
  #skipped = 0;

  constructor(body: AsyncIterable<Uint8Array>, boundary: string) {
    this.#reader = new PieceReader(body, lineEnd);
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Skips the text before the first part. Call it first. */
  async skipPreamble(): Promise<void> {
    await this.#reader.readBefore(this.#delimiter, maxPreambleBytes);
    if ((await this.#reader.readExactly(2)) !== '\r\n')
      throw malformedForm('the form has no parts or does not start with its boundary');
  }

  /** Skips parts until one matches, and returns its header. Call `content` next. Returns undefined at the end of the form. */
  async skipTo(matches: (head: PartHead) => boolean): Promise<PartHead | undefined> {
    while (!this.#isAtEnd) {
      const text = await this.#reader.readBefore(headEnd, maxHeadBytes);
      const head = toPartHead(text);
      if (matches(head)) return head;
      this.#skip(text.length + this.#delimiter.length);
      for await (const { length } of this.content()) this.#skip(length);
    }
    return undefined;
  }

  #skip(bytes: number): void {
    this.#skipped += bytes;
    if (this.#skipped > maxSkippedBytes) throw malformedForm('the fields other than the file are too large');
  }

  /** Yields the content of the part whose header was read last. */
  async *content(): AsyncGenerator<Uint8Array> {
    yield* this.#reader.readPiecesBefore(this.#delimiter);
    const suffix = await this.#reader.readExactly(2);
    if (suffix !== '\r\n' && suffix !== '--') throw malformedForm('the boundary occurs inside a part');
    this.#isAtEnd = suffix === '--';
  }
}

/** Header of a form part. */
export interface PartHead {
  /** Empty if the part has no name. */
  readonly name: string;
  readonly filename: string;
  readonly contentType: string | undefined;
}

/** Parses the header of a part (RFC 7578, 4). Throws `invalid_request`. */
function toPartHead(text: string): PartHead {
  const fields = toFields(text);
  const disposition = fields.get('content-disposition') ?? '';
  if (!/^form-data\s*(;|$)/i.test(disposition)) throw malformedForm('a part lacks Content-Disposition: form-data');
  if (!/^(|7bit|8bit|binary)$/i.test(fields.get('content-transfer-encoding') ?? ''))
    throw malformedForm('a part has a Content-Transfer-Encoding');
  const parameters = toParameters(disposition);
  return {
    name: parameters.get('name') ?? '',
    filename: parameters.get('filename') ?? parameters.get('filename*') ?? '',
    contentType: fields.get('content-type'),
  };
}

function toFields(head: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!/^[\w-]+$/.test(name)) throw malformedForm('a header line of a part is malformed');
    fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/** Quoted values may contain any text, even text that looks like a parameter. */
function toParameters(disposition: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare = ''] of disposition.matchAll(
    /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.){0,2048})"|([^;"]*))/g,
  )) {
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), quoted ?? bare.trim());
  }
  return parameters;
}

/** Searches chunked bytes for delimiters. Buffers at most one chunk more than the bytes it must return. */
class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #buffered: Buffer;

  /** `start` is put before the first chunk. */
  constructor(pieces: AsyncIterable<Uint8Array>, start: Buffer) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#buffered = start;
  }

  /**
   * Returns the bytes before a delimiter as latin1 text, and consumes the delimiter. Throws `invalid_request` if the delimiter
   * does not occur within `maxBytes`.
   */
  async readBefore(delimiter: Buffer, maxBytes: number): Promise<string> {
    let end = this.#buffered.indexOf(delimiter);
    while (end === -1 && this.#buffered.length <= maxBytes + delimiter.length) {
      await this.#pull();
      end = this.#buffered.indexOf(delimiter);
    }
    if (end === -1 || end > maxBytes) throw malformedForm('the header of a part is too long');
    return this.#consume(end, end + delimiter.length).toString('latin1');
  }

  /** Returns `count` bytes as latin1 text. */
  async readExactly(count: number): Promise<string> {
    while (this.#buffered.length < count) await this.#pull();
    return this.#consume(count, count).toString('latin1');
  }

  /** Yields the bytes before a delimiter as they arrive, and consumes the delimiter. */
  async *readPiecesBefore(delimiter: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const end = this.#buffered.indexOf(delimiter);
      if (end !== -1) {
        yield this.#consume(end, end + delimiter.length);
        return;
      }
      const safeLength = Math.max(this.#buffered.length - delimiter.length + 1, 0);
      if (safeLength > 0) yield this.#consume(safeLength, safeLength);
      await this.#pull();
    }
  }

  #consume(end: number, next: number): Buffer {
    const chunk = this.#buffered.subarray(0, end);
    this.#buffered = this.#buffered.subarray(next);
    return chunk;
  }

  async #pull(): Promise<void> {
    const { done, value } = await this.#pieces.next();
    if (done) throw malformedForm('the form ends too early');
    this.#buffered = this.#buffered.length === 0 ? Buffer.from(value) : Buffer.concat([this.#buffered, value]);
  }
}

export function malformedForm(reason: string): ParleyError {
  return new ParleyError('invalid_request', `Invalid form: ${reason}.`);
}

/**
 * Yields the bytes of a body as they arrive. Unread bytes stay in the request. Throws `invalid_request` if the client
 * disconnects.
 */
export async function* readPieces(request: IncomingMessage): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* request.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw new ParleyError('invalid_request', 'The connection closed before the end of the body.', { cause });
  }
}

/** Discards the rest of a body for a limited time. Otherwise the client could fail to send it before it reads the response. */
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  const timer = setTimeout(() => request.destroy(), lingerMs);
  request.once('close', () => clearTimeout(timer));
}
