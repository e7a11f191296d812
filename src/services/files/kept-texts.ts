import { hash } from 'node:crypto';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { FileIndex, IndexedFile } from '#domain/files/file-index.ts';

/** Whom a state belongs to: it is good for one user and one application (contract, points read two ways). */
export interface StateOwner {
  readonly subject: string;
  readonly application: string;
}

export interface KeptTextsDeps {
  readonly index: FileIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** Of all texts of one user. */
  readonly maxKeptBytes: number;
  /** A new UUID. */
  readonly newId: () => string;
  /** Called when a text could not be kept, or an old one not be deleted. */
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** 30 days. */
const keptMs = 30 * 86_400_000;
/** What a text counts for at least: small ones take a file and a row too. */
const leastBytes = 64 * 1024;
const sweepEveryMs = 3_600_000;
const pageLimit = 100;
/** Who writes to a bucket waits for the others who do; a text lies in the one that its name ends in. */
const shards = [...'0123456789abcdef'];
const timeDigits = 10;

/**
 * Long texts that conversations with quick apps go on from, kept among the stored files for 30 days. They lie in buckets that
 * are no user's, so that nobody reads, changes or lists them but this service, for the owner that they were kept for. How much a
 * user has is counted by reservations that end with the texts, in a bucket of their own.
 */
export class KeptTexts {
  readonly #deps: KeptTextsDeps;
  #nextSweepMs = 0;

  constructor(deps: KeptTextsDeps) {
    this.#deps = deps;
  }

  /** A name that no text has. Names grow with time, so that the oldest text of a bucket is listed first. */
  newName(): string {
    const { clock, newId } = this.#deps;
    return `${String(Math.floor(clock.epochMs() / 1000)).padStart(timeDigits, '0')}-${newId()}`;
  }

  /** Whether it is kept now. Never rejects: whoever wants a text kept can do without. */
  async keep(owner: StateOwner, name: string, text: string): Promise<boolean> {
    const { noteFault } = this.#deps;
    void this.#sweepAtTimes().catch((thrown) => noteFault('texts that conversations went on from could not be deleted', thrown));
    return this.#keep(owner.subject, toPlace(owner, name), Buffer.from(text)).then(
      () => true,
      (thrown) => {
        noteFault('a text that a conversation goes on from could not be kept', thrown);
        return false;
      },
    );
  }

  /** Undefined if this owner has no such text, or has it no more. Rejects with StoreFault. */
  async find(owner: StateOwner, name: string): Promise<string | undefined> {
    const { index, blobs } = this.#deps;
    const { bucket, path } = toPlace(owner, name);
    const file = await index.find(bucket, path);
    const content = file && (await blobs.read(file.blob, undefined));
    if (content === undefined) return undefined;
    const pieces: Buffer[] = [];
    for await (const piece of content) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  async #keep(subject: string, place: Place, bytes: Buffer): Promise<void> {
    const { index } = this.#deps;
    await this.#reserve(subject, place, Math.max(leastBytes, bytes.length));
    await this.#write(place, bytes).catch(async (thrown) => {
      await index.release(place.path);
      throw thrown;
    });
  }

  async #reserve(subject: string, { path }: Place, bytes: number): Promise<void> {
    const { index, clock, maxKeptBytes } = this.#deps;
    const nowMs = clock.epochMs();
    const room = { bucket: roomOf(subject), path, blob: path, bytes, nowMs, untilMs: nowMs + keptMs };
    const reserved = await index.reserve(room, maxKeptBytes);
    if (reserved === 'reserved') return;
    const { usedBytes } = reserved;
    throw new ParleyError('payload_too_large', `Texts of this user have ${usedBytes} of ${maxKeptBytes} bytes already.`);
  }

  async #write({ bucket, path }: Place, bytes: Buffer): Promise<void> {
    const { index, blobs, clock, newId } = this.#deps;
    const blob = newId();
    await blobs.write(blob, [bytes]);
    const now = clock.epochMs();
    const facts = { contentType: 'application/json', contentLength: bytes.length, etag: blob, blob };
    await index.put({ bucket, path, ...facts, createdAtMs: now, updatedAtMs: now }, undefined, Number.MAX_SAFE_INTEGER);
  }

  async #sweepAtTimes(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.nowMs() < this.#nextSweepMs) return;
    this.#nextSweepMs = clock.nowMs() + sweepEveryMs;
    const beforeMs = clock.epochMs() - keptMs;
    for (const shard of shards) await this.#sweep(bucketOf(shard), beforeMs);
  }

  async #sweep(bucket: string, beforeMs: number): Promise<void> {
    const { index } = this.#deps;
    for (;;) {
      const { items } = await index.list({ bucket, prefix: '', after: undefined, limit: pageLimit });
      const old = items.filter(({ createdAtMs }) => createdAtMs < beforeMs);
      for (const file of old) await this.#delete(file);
      if (old.length < pageLimit) return;
    }
  }

  async #delete({ bucket, path, blob }: IndexedFile): Promise<void> {
    const { index, blobs } = this.#deps;
    await index.delete(bucket, path, undefined);
    await blobs.delete(blob);
    await index.release(path);
  }
}

interface Place {
  readonly bucket: string;
  readonly path: string;
}

/** Another for each owner: a name says nothing to anybody else. */
function toPlace({ subject, application }: StateOwner, name: string): Place {
  const owner = hash('sha256', JSON.stringify([subject, application]), 'base64url');
  return { bucket: bucketOf(name.at(-1) ?? ''), path: `${name}/${owner}` };
}

/** Where it is counted how much a user has. */
function roomOf(subject: string): string {
  return `~kept-of-${hash('sha256', subject, 'base64url')}`;
}

/** Names of users' buckets have no such character. */
function bucketOf(shard: string): string {
  return `~kept-${shard}`;
}
