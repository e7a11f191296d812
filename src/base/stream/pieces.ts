import { freeBytes } from '../text/bytes.ts';

/** Pieces up to this mean size are joined, because each `Buffer` object takes about 200 bytes. */
const smallBytes = 4 * 1024;
const maxUnjoined = 512;

/** The pieces of a body. They take little more memory than their bytes, even if a client sends single bytes. */
export class Pieces {
  #joined: Buffer[] = [];
  #unjoined: Buffer[] = [];
  #unjoinedBytes = 0;
  /** Total number of bytes. */
  bytes = 0;

  /** Adds a piece. The caller must not use it afterward. */
  add(piece: Buffer): void {
    this.bytes += piece.length;
    this.#unjoinedBytes += piece.length;
    this.#unjoined.push(piece);
    if (this.#unjoined.length < maxUnjoined) return;
    if (this.#unjoinedBytes > smallBytes * maxUnjoined) this.#joined.push(...this.#unjoined);
    else this.#joined.push(join(this.#unjoined, this.#unjoinedBytes));
    this.#unjoined = [];
    this.#unjoinedBytes = 0;
  }

  /** Removes and returns all pieces. */
  take(): readonly Buffer[] {
    const all = [...this.#joined, ...this.#unjoined];
    this.#joined = [];
    this.#unjoined = [];
    this.#unjoinedBytes = 0;
    this.bytes = 0;
    return all;
  }

  /** Removes all pieces and returns their bytes. */
  takeBytes(): Buffer {
    const { bytes } = this;
    return join(this.take(), bytes);
  }
}

/** Joins the pieces and frees their memory immediately instead of waiting for garbage collection. */
function join(pieces: readonly Buffer[], bytes: number): Buffer {
  const [first] = pieces;
  if (first?.length === bytes) return first;
  const all = Buffer.concat(pieces, bytes);
  pieces.forEach(freeBytes);
  return all;
}
