import { hash } from 'node:crypto';
import { type Clock, dayMs } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { FileIndex, IndexedFile } from '#domain/files/file-index.ts';

/** Owner of a conversation state and its texts, which are valid for one user and one application. */
export interface StateOwner {
  readonly subject: string;
  readonly application: string;
}

export interface StoredTextsDeps {
  readonly index: FileIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Maximum size of all texts of one user. */
  readonly maxStoredTextBytes: number;
  /** Generates a UUID. */
  readonly newId: () => string;
  /** Called if a text could not be stored, or an old text could not be deleted. */
  readonly reportError: (message: string, error: unknown) => void;
}

const retentionMs = 30 * dayMs;
/** Minimum size that a text counts for, because small texts also use a file and a row. */
const minCountedBytes = 64 * 1024;
const sweepIntervalMs = 3_600_000;
const pageLimit = 100;
/**
 * Suffixes of bucket names. Writers of a bucket wait for each other, so texts are distributed by the last digit of their names.
 */
const shards = [...'0123456789abcdef'];
const timeDigits = 10;

/**
 * Long texts that conversations with quick apps continue from, stored as files for 30 days. Their buckets belong to no user, so
 * only Parley accesses them on behalf of the owner. Reservations in separate buckets count the usage per user, and expire
 * together with the texts.
 */
export class StoredTexts {
  readonly #deps: StoredTextsDeps;
  #nextSweepMs = 0;

  constructor(deps: StoredTextsDeps) {
    this.#deps = deps;
  }

  /** Returns a unique name. Names increase with time, so that the oldest text of a bucket is listed first. */
  newName(): string {
    const { clock, newId } = this.#deps;
    return `${String(Math.floor(clock.epochMs() / 1000)).padStart(timeDigits, '0')}-${newId()}`;
  }

  /** Returns whether the text is stored. Never rejects, because callers work without it. */
  async store(owner: StateOwner, name: string, text: string): Promise<boolean> {
    const { reportError } = this.#deps;
    void this.#sweepIfDue().catch((error) => reportError('could not delete old texts of conversations', error));
    return this.#store(owner.subject, toLocation(owner, name), Buffer.from(text)).then(
      () => true,
      (error) => {
        reportError('could not store a text of a conversation', error);
        return false;
      },
    );
  }

  /** Returns undefined if the owner has no such text, or it was deleted. Rejects with `StoreError`. */
  async find(owner: StateOwner, name: string): Promise<string | undefined> {
    const { index, blobs } = this.#deps;
    const { bucket, path } = toLocation(owner, name);
    const file = await index.find(bucket, path);
    const content = file && (await blobs.read(file.blob, undefined));
    if (content === undefined) return undefined;
    const pieces: Buffer[] = [];
    for await (const piece of content) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  async #store(subject: string, location: TextLocation, bytes: Buffer): Promise<void> {
    const { index } = this.#deps;
    await this.#reserve(subject, location, Math.max(minCountedBytes, bytes.length));
    await this.#write(location, bytes).catch(async (error) => {
      await index.release(location.path);
      throw error;
    });
  }

  async #reserve(subject: string, { path }: TextLocation, bytes: number): Promise<void> {
    const { index, clock, maxStoredTextBytes } = this.#deps;
    const nowMs = clock.epochMs();
    const reservation = { bucket: toReservationBucket(subject), path, blob: path, bytes, nowMs, untilMs: nowMs + retentionMs };
    const outcome = await index.reserve(reservation, maxStoredTextBytes);
    if (outcome === 'reserved') return;
    const { usedBytes } = outcome;
    throw new ParleyError('payload_too_large', `The texts of this user already use ${usedBytes} of ${maxStoredTextBytes} bytes.`);
  }

  async #write({ bucket, path }: TextLocation, bytes: Buffer): Promise<void> {
    const { index, blobs, clock, newId } = this.#deps;
    const blob = newId();
    await blobs.write(blob, [bytes]);
    const nowMs = clock.epochMs();
    const properties = { contentType: 'application/json', contentLength: bytes.length, etag: blob, blob };
    await index.put({ bucket, path, ...properties, createdAtMs: nowMs, updatedAtMs: nowMs }, undefined, Number.MAX_SAFE_INTEGER);
  }

  async #sweepIfDue(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.nowMs() < this.#nextSweepMs) return;
    this.#nextSweepMs = clock.nowMs() + sweepIntervalMs;
    const beforeMs = clock.epochMs() - retentionMs;
    for (const shard of shards) await this.#sweep(toTextBucket(shard), beforeMs);
  }

  async #sweep(bucket: string, beforeMs: number): Promise<void> {
    const { index } = this.#deps;
    for (;;) {
      const { items } = await index.list({ bucket, prefix: '', after: undefined, limit: pageLimit });
      const expiredFiles = items.filter(({ createdAtMs }) => createdAtMs < beforeMs);
      for (const file of expiredFiles) await this.#delete(file);
      if (expiredFiles.length < pageLimit) return;
    }
  }

  async #delete({ bucket, path, blob }: IndexedFile): Promise<void> {
    const { index, blobs } = this.#deps;
    await index.delete(bucket, path, undefined);
    await blobs.delete(blob);
    await index.release(path);
  }
}

interface TextLocation {
  readonly bucket: string;
  readonly path: string;
}

/** Returns a location that is specific to the owner, so that a name is useless to other users. */
function toLocation({ subject, application }: StateOwner, name: string): TextLocation {
  const owner = hash('sha256', JSON.stringify([subject, application]), 'base64url');
  return { bucket: toTextBucket(name.at(-1) ?? ''), path: `${name}/${owner}` };
}

/** Returns the bucket that counts the usage of a user. */
function toReservationBucket(subject: string): string {
  return `~kept-of-${hash('sha256', subject, 'base64url')}`;
}

/** Returns the bucket of a shard. Names of user buckets do not contain `~`. */
function toTextBucket(shard: string): string {
  return `~kept-${shard}`;
}
