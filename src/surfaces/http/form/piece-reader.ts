import { ParleyError } from '#contract/errors/errors.ts';

/** Looks for marks in bytes that come in pieces; holds no more than a piece and what it is told to. */
export class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #held: Buffer;

  /** `begun` stands before the first piece. */
  constructor(pieces: AsyncIterable<Uint8Array>, begun: Buffer) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#held = begun;
  }

  /** The bytes before a mark as latin1 text; the mark is taken away too. Throws `invalid_request` where they are too many, or it never comes. */
  async before(mark: Buffer, maxBytes: number): Promise<string> {
    let end = this.#held.indexOf(mark);
    while (end === -1 && this.#held.length <= maxBytes + mark.length) {
      await this.#pull();
      end = this.#held.indexOf(mark);
    }
    if (end === -1 || end > maxBytes) throw malformedForm('its head is too long');
    return this.#take(end, end + mark.length).toString('latin1');
  }

  /** So many bytes as latin1 text. */
  async exactly(count: number): Promise<string> {
    while (this.#held.length < count) await this.#pull();
    return this.#take(count, count).toString('latin1');
  }

  /** The bytes before a mark, as they come; the mark is taken away too. */
  async *piecesBefore(mark: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const end = this.#held.indexOf(mark);
      if (end !== -1) {
        yield this.#take(end, end + mark.length);
        return;
      }
      const sure = Math.max(this.#held.length - mark.length + 1, 0);
      if (sure > 0) yield this.#take(sure, sure);
      await this.#pull();
    }
  }

  #take(end: number, next: number): Buffer {
    const taken = this.#held.subarray(0, end);
    this.#held = this.#held.subarray(next);
    return taken;
  }

  async #pull(): Promise<void> {
    const { done, value } = await this.#pieces.next();
    if (done) throw malformedForm('it ends too early');
    this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value]);
  }
}

export function malformedForm(reason: string): ParleyError {
  return new ParleyError('invalid_request', `The form cannot be read: ${reason}.`);
}
