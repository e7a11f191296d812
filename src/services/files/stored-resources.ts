import type { Readable } from 'node:stream';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { BlobStore, ByteRange } from '#domain/files/blob-store.ts';
import type { FileIndex, FileInfo, IndexedFile, IndexLocation } from '#domain/files/file-index.ts';
import { type FolderPage, type FolderQuery, listFolder } from '#domain/files/list-folder.ts';
import {
  type ContentKind,
  type ContentLocation,
  destinationExists,
  type FileLocation,
  type Relocation,
  sourceNotFound,
  toIndexBucket,
} from '#domain/files/resource-location.ts';
import { requireReadable, requireWritable } from '#domain/files/resource-rights.ts';
import { preconditionFailed, type WriteCondition } from '#domain/files/write-condition.ts';
import { FileReservation, overQuota } from './file-reservation.ts';
import { UploadSlots } from './upload-slots.ts';

/** How much is stored. */
interface FileBounds {
  readonly maxFileBytes: number;
  readonly maxBucketBytes: number;
}

export interface StoredResourcesDeps {
  readonly index: FileIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The bounds in force: a reload of the configuration may change them. */
  readonly bounds: () => FileBounds;
  /** Of one bucket at once; on this node. */
  readonly maxBucketUploads: number;
  /** Called when a content could not be deleted. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** Which part of a file is wanted. */
export type Selection = 'whole' | 'nothing' | ByteRange;

export interface OpenedFile {
  readonly file: FileInfo;
  readonly selection: Selection;
  /** To be read to its end or destroyed; undefined if nothing of it is wanted. */
  readonly content: Readable | undefined;
}

export interface Upload {
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** How many they are; undefined if that is found out as they come. */
  readonly announcedBytes: number | undefined;
  readonly condition: WriteCondition;
  /** What is thrown if the condition does not hold; absent: `precondition_failed`. */
  readonly refusal?: () => ParleyError;
}

/** Bounds that are not configured: uploads to one bucket at the same time, and bytes of the texts that a user's conversations continue from. */
export const defaultFileLimits = {
  maxBucketUploads: 16,
  maxStoredTextBytes: 1024 ** 3,
};

const contentKinds: readonly ContentKind[] = ['files', 'prompts', 'conversations'];
const deleteBatchSize = 500;

const maxReads = 3;

/**
 * Stored files, prompts and conversations as callers may use them (docs/wire.md, Files). Each kind of a bucket stands apart in the index;
 * a quota is that of one kind. Everything may throw StoreFault.
 */
export class StoredResources {
  readonly #deps: StoredResourcesDeps;
  readonly #slots: UploadSlots;

  constructor(deps: StoredResourcesDeps) {
    this.#deps = deps;
    this.#slots = new UploadSlots(deps.maxBucketUploads);
  }

  get maxFileBytes(): number {
    return this.#deps.bounds().maxFileBytes;
  }

  /** What is known of a file; undefined if there is none. Throws `access_denied`. */
  async find(caller: Caller, location: ContentLocation): Promise<FileInfo | undefined> {
    requireReadable(caller, location);
    return this.#find(location);
  }

  /** What is there now, for those who may write it. */
  findCurrent(location: ContentLocation): Promise<FileInfo | undefined> {
    return this.#find(location);
  }

  /**
   * Opens a file; `select` says which part, and is asked again if the file was replaced in between: what is read is
   * always of one content. Throws `access_denied`, `file_not_found`, and what `select` throws.
   */
  async read(caller: Caller, location: ContentLocation, select: (file: FileInfo) => Selection): Promise<OpenedFile> {
    requireReadable(caller, location);
    const opened = await this.#open(location, select);
    if (opened === undefined) throw resourceNotFound(location);
    return opened;
  }

  async #open(location: ContentLocation, select: (file: FileInfo) => Selection): Promise<OpenedFile | undefined> {
    for (let attempts = 0; attempts < maxReads; attempts += 1) {
      const file = await this.#find(location);
      if (file === undefined) return undefined;
      const selection = select(file);
      if (selection === 'nothing') return { file, selection, content: undefined };
      const content = await this.#deps.blobs.read(file.blob, selection === 'whole' ? undefined : selection);
      if (content !== undefined) return { file, selection, content };
    }
    throw new Error('the content of a stored file is not where the index says');
  }

  /** Stores a content in the place of what is there. Throws `access_denied`, `precondition_failed`, `payload_too_large`, and what the bytes throw. */
  async put(caller: Caller, location: ContentLocation, upload: Upload): Promise<FileInfo> {
    requireWritable(caller, location);
    return this.#slots.run(location.bucket, () => this.#put(location, upload));
  }

  async #put(location: ContentLocation, upload: Upload): Promise<FileInfo> {
    const { index, clock, newId, bounds } = this.#deps;
    const { maxBucketBytes } = bounds();
    const reservation = new FileReservation({ index, clock, maxBucketBytes }, { ...toIndexLocation(location), blob: newId() });
    try {
      const stored = await this.#store(reservation, upload);
      await this.#discard(stored.replaced);
      return stored.file;
    } catch (error) {
      // Where even this fails the room is free a few minutes later.
      await reservation.release().catch(() => undefined);
      throw error;
    }
  }

  async #store(
    reservation: FileReservation,
    { announcedBytes = 0, bytes, condition, contentType, refusal = preconditionFailed }: Upload,
  ): Promise<{ file: FileInfo; replaced: IndexedFile | undefined }> {
    const { index, blobs, clock, bounds } = this.#deps;
    const { maxBucketBytes } = bounds();
    const { blob } = reservation.location;
    await reservation.ensure(announcedBytes);
    const counted = new CountedBytes(bytes, this.maxFileBytes, reservation);
    await blobs.write(blob, counted);
    const now = clock.epochMs();
    const times = { createdAtMs: now, updatedAtMs: now };
    const file = { ...reservation.location, contentType, contentLength: counted.total, etag: blob, ...times };
    // Where this throws it may have happened all the same: a content too many is a lesser harm than one too few.
    const outcome = await index.put(file, condition, maxBucketBytes);
    if (outcome.outcome === 'stored') return { file: outcome.stored, replaced: outcome.replaced };
    await this.#discard(file);
    throw outcome.outcome === 'over_quota' ? overQuota(maxBucketBytes, outcome.usedBytes) : refusal();
  }

  /** Throws `access_denied`, `file_not_found`, `precondition_failed`. */
  async delete(caller: Caller, location: ContentLocation, condition: WriteCondition): Promise<void> {
    requireWritable(caller, location);
    const { bucket, path } = toIndexLocation(location);
    const deleted = await this.#deps.index.delete(bucket, path, condition);
    if (deleted === 'absent') throw resourceNotFound(location);
    if (deleted === 'condition_failed') throw preconditionFailed();
    await this.#discard(deleted);
  }

  /** Deletes all stored resources of every kind below a path, independent of who may write them. */
  async deleteAllIn({ bucket, path: prefix }: FileLocation): Promise<void> {
    const { index } = this.#deps;
    for (const kind of contentKinds) {
      const indexBucket = toIndexBucket({ kind, bucket });
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const { items, next } = await index.list({ bucket: indexBucket, prefix, after, limit: deleteBatchSize });
        for (const { path } of items) {
          const deleted = await index.delete(indexBucket, path, undefined);
          if (typeof deleted === 'object') await this.#discard(deleted);
        }
        after = next;
      }
    }
  }

  /** One page of a folder. Throws `access_denied`. */
  async list(caller: Caller, folder: ContentLocation, query: FolderQuery): Promise<FolderPage<FileInfo>> {
    requireReadable(caller, folder);
    const { bucket, path: prefix } = toIndexLocation(folder);
    return listFolder((page) => this.#deps.index.list({ ...page, bucket }), { ...query, prefix });
  }

  /** Gives something another place; at every moment it is at one of the two. Throws `access_denied`, `invalid_request`, `payload_too_large`. */
  async move(caller: Caller, { from, to, replaces }: Relocation<ContentKind>): Promise<void> {
    requireReadable(caller, from);
    requireWritable(caller, from);
    requireWritable(caller, to);
    const { index, clock, bounds } = this.#deps;
    const { maxBucketBytes } = bounds();
    const move = { from: toIndexLocation(from), to: toIndexLocation(to), replaces, nowMs: clock.epochMs() };
    const outcome = await index.move(move, maxBucketBytes);
    if (outcome.outcome === 'over_quota') throw overQuota(maxBucketBytes, outcome.usedBytes);
    if (outcome.outcome !== 'moved') throw outcome.outcome === 'absent' ? sourceNotFound() : destinationExists();
    await this.#discard(outcome.replaced);
  }

  /** Stores the same content at another place. Throws what `move` throws. */
  async copy(caller: Caller, { from, to, replaces }: Relocation<ContentKind>): Promise<void> {
    requireReadable(caller, from);
    requireWritable(caller, to);
    if (!replaces && (await this.#find(to)) !== undefined && (await this.#find(from)) !== undefined) throw destinationExists();
    const opened = await this.#open(from, () => 'whole');
    if (opened?.content === undefined) throw sourceNotFound();
    const { content, file } = opened;
    const { contentType, contentLength: announcedBytes } = file;
    const condition = replaces ? undefined : 'absent';
    const copied = { bytes: content, contentType, announcedBytes, condition, refusal: destinationExists } as const;
    await this.put(caller, to, copied).finally(() => content.destroy());
  }

  #find(location: ContentLocation): Promise<IndexedFile | undefined> {
    const { bucket, path } = toIndexLocation(location);
    return this.#deps.index.find(bucket, path);
  }

  /** The caller has what it asked for: a content that stays costs space, no more. */
  async #discard(file: IndexedFile | undefined): Promise<void> {
    const { blobs, reportError } = this.#deps;
    if (file === undefined) return;
    await blobs
      .delete(file.blob)
      .catch((error) => reportError(`the content ${file.blob} of no file could not be deleted`, error));
  }
}

/** Bytes on their way, counted; throws `payload_too_large` once they are too many for a file, or for the room there is. */
class CountedBytes implements AsyncIterable<Uint8Array> {
  total = 0;
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #maxBytes: number;
  readonly #reservation: FileReservation;

  constructor(bytes: AsyncIterable<Uint8Array>, maxBytes: number, reservation: FileReservation) {
    this.#bytes = bytes;
    this.#maxBytes = maxBytes;
    this.#reservation = reservation;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for await (const piece of this.#bytes) {
      this.total += piece.length;
      if (this.total > this.#maxBytes) throw fileTooLarge(this.#maxBytes);
      await this.#reservation.ensure(this.total);
      yield piece;
    }
  }
}

function toIndexLocation(location: ContentLocation): IndexLocation {
  return { bucket: toIndexBucket(location), path: location.path };
}

export function resourceNotFound({ kind }: { readonly kind: ContentKind }): ParleyError {
  const what = kind.slice(0, -1);
  return new ParleyError(
    'file_not_found',
    `There is no stored ${what} of this path; GET /v1/metadata/${kind}/{bucket}/ lists yours.`,
  );
}

export function fileTooLarge(maxBytes: number): ParleyError {
  return new ParleyError('payload_too_large', `The file is larger than the ${maxBytes} bytes that a file may have.`);
}
