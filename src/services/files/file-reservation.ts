import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { FileIndex, Reservation } from '#domain/files/file-index.ts';

export interface FileQuotaDeps {
  readonly index: FileIndex;
  readonly clock: Clock;
  readonly maxBucketBytes: number;
}

/** Additional reservation for an upload of unknown size. */
const stepBytes = 8 * 1024 ** 2;
/** Lifetime of a reservation, after which it expires if its node does not renew or release it. */
const reservationMs = 300_000;
const renewAfterMs = 60_000;

/** Reserved quota of one upload, so that concurrent uploads never exceed the quota of a bucket. */
export class FileReservation {
  readonly location: Pick<Reservation, 'bucket' | 'path' | 'blob'>;
  readonly #deps: FileQuotaDeps;
  #bytes = -1;
  #renewAtMs = 0;

  constructor(deps: FileQuotaDeps, location: Pick<Reservation, 'bucket' | 'path' | 'blob'>) {
    this.#deps = deps;
    this.location = location;
  }

  /** Extends the reservation to at least `bytes` and renews it if necessary. Throws `payload_too_large`. */
  async ensure(bytes: number): Promise<void> {
    if (bytes <= this.#bytes && this.#deps.clock.epochMs() < this.#renewAtMs) return;
    const isFirst = this.#bytes < 0;
    const neededBytes = Math.max(bytes, this.#bytes);
    if (neededBytes > this.#bytes && !isFirst && (await this.#reserve(neededBytes + stepBytes)) === undefined) return;
    const usedBytes = await this.#reserve(neededBytes);
    if (usedBytes !== undefined) throw createOverQuotaError(this.#deps.maxBucketBytes, usedBytes);
  }

  release(): Promise<void> {
    return this.#deps.index.release(this.location.blob);
  }

  /** Returns the used bytes of the bucket if the quota is not sufficient. */
  async #reserve(bytes: number): Promise<number | undefined> {
    const { clock, index, maxBucketBytes } = this.#deps;
    const nowMs = clock.epochMs();
    const reserved = await index.reserve({ ...this.location, bytes, nowMs, untilMs: nowMs + reservationMs }, maxBucketBytes);
    if (reserved !== 'reserved') return reserved.usedBytes;
    this.#bytes = bytes;
    this.#renewAtMs = nowMs + renewAfterMs;
  }
}

export function createOverQuotaError(maxBytes: number, usedBytes: number): ParleyError {
  return new ParleyError(
    'payload_too_large',
    `Your bucket contains ${usedBytes} of at most ${maxBytes} bytes, including uploads in progress. Delete files to free space for this upload.`,
  );
}
