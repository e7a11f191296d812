import { randomBytes } from 'node:crypto';
import { hasControls } from '#base/text/bytes.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import { type PassThroughApi, passThroughRequests, passThroughTraits } from '#contract/pass-through.ts';
import type { FormFields, FormPieces } from '#domain/upstreams/upstream.ts';
import { estimateTokens } from '#domain/usage/usage.ts';
import { FormReader, malformedForm, type PartHead } from '../http/form/form-reader.ts';

/** Maximum number of bytes to buffer until the model is known. Audio and images are often sent before it. */
const maxBufferedBytes = 32 * 1024 ** 2;
/** Maximum number of bytes to buffer before the form is sent. A form of at most this size can be sent again. */
const maxRepeatableBytes = 1024 ** 2;
/** Approximate memory of a chunk in addition to its bytes. */
const chunkOverheadBytes = 200;
const maxModelBytes = 1024;
const maxParts = 1000;
/** Field names of known APIs. An upstream could unescape other names and read one of them as `model`. */
const fieldNamePattern = /^[\w.-]{1,100}(?:\[[\w.-]{0,100}\])?$/;
const modelNamePattern = /^model(?:\[|$)/i;

/**
 * A form that is forwarded from the client to an upstream. Parses the parts and writes them again with a random boundary that
 * the client does not know, so that the upstream cannot parse the form differently. Removes `model`.
 */
export class PassThroughForm implements FormFields {
  readonly boundary = `parley-${randomBytes(24).toString('hex')}`;
  readonly #api: PassThroughApi;
  readonly #rewrittenForm: AsyncIterator<Buffer>;
  readonly #fieldNames = new Set<string>();
  #model: string | undefined;
  #promptBytes = 0;
  /** Buffered chunks. Earlier chunks have been discarded. */
  #buffers: Buffer[] = [];
  #discardedChunks = 0;
  #bufferedBytes = 0;
  /** Approximate memory of the buffered chunks, which is larger than their bytes if a client sends single bytes. */
  #memoryBytes = 0;
  #hasEnded = false;
  /** Whether chunks are discarded after they are sent, because the form is large. */
  #isDiscarding = false;
  /** Read in progress. */
  #nextChunk: Promise<void> | undefined;

  constructor(body: AsyncIterable<Uint8Array>, boundary: string, api: PassThroughApi) {
    this.#api = api;
    this.#rewrittenForm = this.#rewriteParts(new FormReader(body, boundary));
  }

  get canReopen(): boolean {
    return !this.#isDiscarding;
  }

  get promptTokens(): number {
    return estimateTokens(this.#promptBytes);
  }

  /**
   * Returns the model when it has arrived. Throws `invalid_request` if the form has none, and `payload_too_large` if too many
   * bytes come before it.
   */
  async readModel(): Promise<string> {
    while (this.#model === undefined && !this.#hasEnded && this.#memoryBytes <= maxBufferedBytes) await this.#readChunk();
    if (this.#model !== undefined) return this.#model;
    if (this.#hasEnded) throw missingModel();
    throw new ParleyError(
      'payload_too_large',
      `The field model must be within the first ${maxBufferedBytes} bytes of the form. Send it before the file.`,
      { param: 'model' },
    );
  }

  /** Buffers the start of the form, so that a small form is validated before the request is sent. */
  async readAhead(): Promise<void> {
    while (!this.#hasEnded && this.#memoryBytes < maxRepeatableBytes) await this.#readChunk();
    if (this.#hasEnded) this.#requireFields();
  }

  open(defaults: Readonly<Record<string, unknown>>): FormPieces {
    if (this.#isDiscarding) throw new Error('a form that is no longer buffered was opened again');
    const length = this.#hasEnded ? this.#bufferedBytes + this.#buildEnd(defaults).length : undefined;
    return { pieces: this.#pieces(defaults), length };
  }

  async *#pieces(defaults: Readonly<Record<string, unknown>>): AsyncGenerator<Uint8Array> {
    for (let index = 0; ; index += 1) {
      while (index - this.#discardedChunks >= this.#buffers.length && !this.#hasEnded) await this.#readChunk();
      const piece = this.#buffers[index - this.#discardedChunks];
      if (piece === undefined) break;
      if (!this.#hasEnded && this.#memoryBytes > maxRepeatableBytes) this.#isDiscarding = true;
      if (this.#isDiscarding) this.#discard(index);
      yield piece;
    }
    this.#requireFields();
    yield this.#buildEnd(defaults);
  }

  /** Discards the chunks up to and including this index. */
  #discard(index: number): void {
    const discarded = this.#buffers.splice(0, index - this.#discardedChunks + 1);
    this.#discardedChunks += discarded.length;
    for (const { length } of discarded) {
      this.#bufferedBytes -= length;
      this.#memoryBytes -= length + chunkOverheadBytes;
    }
  }

  /** Reads one more chunk. Concurrent callers share the same read. */
  #readChunk(): Promise<void> {
    this.#nextChunk ??= this.#rewrittenForm
      .next()
      .then(({ done, value }) => {
        if (done) this.#hasEnded = true;
        else if (value.length > 0) {
          this.#buffers.push(value);
          this.#bufferedBytes += value.length;
          this.#memoryBytes += value.length + chunkOverheadBytes;
        }
      })
      .finally(() => {
        this.#nextChunk = undefined;
      });
    return this.#nextChunk;
  }

  async *#rewriteParts(reader: FormReader): AsyncGenerator<Buffer> {
    await reader.skipPreamble();
    for (let parts = 0; ; parts += 1) {
      const head = await reader.skipTo(() => true);
      if (head === undefined) return;
      if (parts >= maxParts) throw malformedForm(`the form has more than ${maxParts} parts`);
      if (!fieldNamePattern.test(head.name)) throw malformedForm('a part has a missing or unusual name');
      if (modelNamePattern.test(head.name)) {
        await this.#readModelPart(head, reader);
        // Wakes `readModel`, which then checks the model.
        yield Buffer.alloc(0);
        continue;
      }
      this.#fieldNames.add(head.name.split('[', 1)[0] ?? '');
      yield toHead(head, this.boundary);
      const isPrompt = head.filename === '' && passThroughTraits[this.#api].promptFields.includes(head.name);
      for await (const piece of reader.content()) {
        if (isPrompt) this.#promptBytes += piece.length;
        yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      }
      yield Buffer.from('\r\n');
    }
  }

  async #readModelPart({ name }: PartHead, reader: FormReader): Promise<void> {
    if (name !== 'model') throw createRequestError(name, 'is not a known field. The correct name is model');
    if (this.#model !== undefined) throw createRequestError('model', 'must occur only once in the form');
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of reader.content()) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > maxModelBytes) throw createRequestError('model', `must be at most ${maxModelBytes} bytes long`);
    }
    const model = Buffer.concat(pieces).toString();
    if (model === '') throw missingModel();
    this.#model = model;
  }

  #requireFields(): void {
    for (const name of passThroughRequests[this.#api].required)
      if (!this.#fieldNames.has(name)) throw createRequestError(name, 'is required');
  }

  /** Returns the defaults for missing fields, and the end of the form. */
  #buildEnd(defaults: Readonly<Record<string, unknown>>): Buffer {
    const missingFields = Object.entries(defaults).filter(
      ([name]) => !this.#fieldNames.has(name) && fieldNamePattern.test(name) && !modelNamePattern.test(name),
    );
    const parts = missingFields.flatMap(([name, value]) => toFormFields(name, value).map((part) => this.#toPart(part)));
    return Buffer.from(`${parts.join('')}--${this.boundary}--\r\n`);
  }

  #toPart([name, value]: readonly [string, string]): string {
    return `--${this.boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  }
}

function missingModel(): ParleyError {
  return createRequestError('model', 'must name a deployment. GET /v1/models lists the deployments that you may use');
}

/** Returns a default as form fields. */
function toFormFields(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.map((item: unknown) => [`${name}[]`, toText(item)]);
  return [[name, toText(value)]];
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the header of a part in the most widely understood syntax. */
function toHead({ name, filename, contentType }: PartHead, boundary: string): Buffer {
  const file = filename === '' ? '' : `; filename="${toQuoted(filename)}"`;
  const type = contentType === undefined ? '' : `\r\nContent-Type: ${requireNoControls(contentType)}`;
  return Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}${type}\r\n\r\n`, 'latin1');
}

/** Escapes a trailing backslash that would escape the closing quote. Other backslashes are not escaped, as in browsers. */
function toQuoted(text: string): string {
  const plain = requireNoControls(text);
  return /\\$/.test(plain.replaceAll('\\\\', '')) ? plain.replaceAll('\\', '\\\\') : plain;
}

function requireNoControls(text: string): string {
  if (hasControls(Buffer.from(text, 'latin1'))) throw malformedForm('the header of a part contains control characters');
  return text;
}
