import type { Readable } from 'node:stream';
import { OwnerQuota } from '#base/isolation/fair-queue.ts';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { BlobStore, ByteRange } from '#domain/files/blob-store.ts';
import type { FileIndex, FileInfo, IndexedFile, IndexLocation, Reservation } from '#domain/files/file-index.ts';
import { type FolderPage, type FolderQuery, listFolder } from '#domain/files/list-folder.ts';
import {
  type ContentKind,
  type ContentLocation,
  createDestinationExistsError,
  createSourceNotFoundError,
  type FileLocation,
  type Relocation,
  toIndexBucket,
} from '#domain/files/resource-location.ts';
import { requireReadable, requireWritable } from '#domain/files/resource-rights.ts';
import { createPreconditionError, type WriteCondition } from '#domain/files/write-condition.ts';
import { StoreError } from '#domain/store-error.ts';

interface FileBounds {
  readonly maxFileBytes: number;
  readonly maxBucketBytes: number;
}

export interface StoredResourcesDeps {
  readonly index: FileIndex;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Returns the current limits, which a reload of the configuration may change. */
  readonly bounds: () => FileBounds;
  /** Maximum number of concurrent uploads per bucket on this node. */
  readonly maxBucketUploads: number;
  /** Called if the content of a file could not be deleted. */
  readonly reportError: (message: string, error: unknown) => void;
}

/** Part of a file to read. With `none`, only its properties are read. */
export type Selection = 'complete' | 'none' | ByteRange;

export interface OpenedFile {
  readonly file: FileInfo;
  readonly selection: Selection;
  /** Stream that the reader must consume or destroy. Undefined if no content is selected. */
  readonly content: Readable | undefined;
}

export interface Upload {
  readonly contentType: string;
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Declared size. Undefined if it is unknown. */
  readonly declaredBytes: number | undefined;
  readonly condition: WriteCondition;
  /** Creates the error for an unmet condition. If undefined, `precondition_failed`. */
  readonly createConditionError?: () => ParleyError;
}

/**
 * Limits that are not configurable: concurrent uploads per bucket, and bytes of the texts that are stored for a user's
 * conversations with quick apps.
 */
export const defaultFileLimits = {
  maxBucketUploads: 16,
  maxStoredTextBytes: 1024 ** 3,
};

const contentKinds: readonly ContentKind[] = ['files', 'prompts', 'conversations'];
const deleteBatchSize = 500;

const maxOpenAttempts = 3;

/**
 * Access to stored files, prompts, and conversations for callers (docs/wire.md, Files). Each kind in a bucket has a separate
 * index and a separate quota. All methods may throw `StoreError`.
 */
export class StoredResources {
  readonly #deps: StoredResourcesDeps;
  /** Limits the concurrent uploads of each bucket, so that slow uploads of one user do not use the capacity of the node. */
  readonly #slots: OwnerQuota;

  constructor(deps: StoredResourcesDeps) {
    this.#deps = deps;
    this.#slots = new OwnerQuota(deps.maxBucketUploads, () => new StoreError('too many uploads are in progress'));
  }

  get maxFileBytes(): number {
    return this.#deps.bounds().maxFileBytes;
  }

  /** Returns a file's properties, or undefined if it does not exist. Throws `access_denied`. */
  async find(caller: Caller, location: ContentLocation): Promise<FileInfo | undefined> {
    requireReadable(caller, location);
    return this.findCurrent(location);
  }

  /** Returns the current file without an access check. Only for callers with write access. */
  findCurrent(location: ContentLocation): Promise<IndexedFile | undefined> {
    const { bucket, path } = toIndexLocation(location);
    return this.#deps.index.find(bucket, path);
  }

  /**
   * Opens a file. `select` chooses the part, and is called again if the file was replaced in the meantime. The result never
   * mixes two versions. Throws `access_denied`, `file_not_found`, and errors of `select`.
   */
  async openFile(caller: Caller, location: ContentLocation, select: (file: FileInfo) => Selection): Promise<OpenedFile> {
    requireReadable(caller, location);
    const opened = await this.#open(location, select);
    if (opened === undefined) throw createResourceNotFoundError(location);
    return opened;
  }

  async #open(location: ContentLocation, select: (file: FileInfo) => Selection): Promise<OpenedFile | undefined> {
    for (let attempts = 0; attempts < maxOpenAttempts; attempts += 1) {
      const file = await this.findCurrent(location);
      if (file === undefined) return undefined;
      const selection = select(file);
      if (selection === 'none') return { file, selection, content: undefined };
      const content = await this.#deps.blobs.read(file.blob, selection === 'complete' ? undefined : selection);
      if (content !== undefined) return { file, selection, content };
    }
    throw new Error('The content of a file in the index does not exist');
  }

  /**
   * Stores or replaces a file. Throws `access_denied`, `precondition_failed`, `payload_too_large`, and errors of the upload
   * stream.
   */
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
      // If this also fails, the reservation expires after a few minutes.
      await reservation.release().catch(() => undefined);
      throw error;
    }
  }

  async #store(
    reservation: FileReservation,
    { declaredBytes = 0, bytes, condition, contentType, createConditionError = createPreconditionError }: Upload,
  ): Promise<{ file: FileInfo; replaced: IndexedFile | undefined }> {
    const { index, blobs, clock, bounds } = this.#deps;
    const { maxBucketBytes } = bounds();
    const { blob } = reservation.location;
    await reservation.ensure(declaredBytes);
    let contentLength = 0;
    const { maxFileBytes } = this;
    async function* countBytes(): AsyncIterable<Uint8Array> {
      for await (const piece of bytes) {
        contentLength += piece.length;
        if (contentLength > maxFileBytes) throw createFileTooLargeError(maxFileBytes);
        await reservation.ensure(contentLength);
        yield piece;
      }
    }
    await blobs.write(blob, countBytes());
    const nowMs = clock.epochMs();
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    const file = { ...reservation.location, contentType, contentLength, etag: blob, ...times };
    // If this throws, the file may still have been stored, so its content is not deleted.
    const outcome = await index.put(file, condition, maxBucketBytes);
    if (outcome.outcome === 'stored') return { file: outcome.stored, replaced: outcome.replaced };
    await this.#discard(file);
    throw outcome.outcome === 'over_quota' ? createOverQuotaError(maxBucketBytes, outcome.usedBytes) : createConditionError();
  }

  /** Throws `access_denied`, `file_not_found`, or `precondition_failed`. */
  async delete(caller: Caller, location: ContentLocation, condition: WriteCondition): Promise<void> {
    requireWritable(caller, location);
    const { bucket, path } = toIndexLocation(location);
    const deleted = await this.#deps.index.delete(bucket, path, condition);
    if (deleted === 'absent') throw createResourceNotFoundError(location);
    if (deleted === 'condition_failed') throw createPreconditionError();
    await this.#discard(deleted);
  }

  /** Deletes all stored resources of every kind below a path, without an access check. */
  async deleteAllIn({ bucket, path: prefix }: FileLocation): Promise<void> {
    const { index } = this.#deps;
    for (const kind of contentKinds) {
      const indexBucket = toIndexBucket({ kind, bucket });
      let after: string | undefined;
      do {
        const { items, next } = await index.list({ bucket: indexBucket, prefix, after, limit: deleteBatchSize });
        for (const { path } of items) {
          const deleted = await index.delete(indexBucket, path, undefined);
          if (typeof deleted === 'object') await this.#discard(deleted);
        }
        after = next;
      } while (after !== undefined);
    }
  }

  /** Returns one page of a folder. Throws `access_denied`. */
  async list(caller: Caller, folder: ContentLocation, query: FolderQuery): Promise<FolderPage<FileInfo>> {
    requireReadable(caller, folder);
    const { bucket, path: prefix } = toIndexLocation(folder);
    return listFolder((page) => this.#deps.index.list({ ...page, bucket }), { ...query, prefix });
  }

  /** Moves a resource atomically. Throws `access_denied`, `invalid_request`, or `payload_too_large`. */
  async move(caller: Caller, { from, to, replaces }: Relocation<ContentKind>): Promise<void> {
    requireReadable(caller, from);
    requireWritable(caller, from);
    requireWritable(caller, to);
    const { index, clock, bounds } = this.#deps;
    const { maxBucketBytes } = bounds();
    const move = { from: toIndexLocation(from), to: toIndexLocation(to), replaces, nowMs: clock.epochMs() };
    const outcome = await index.move(move, maxBucketBytes);
    if (outcome.outcome === 'over_quota') throw createOverQuotaError(maxBucketBytes, outcome.usedBytes);
    if (outcome.outcome !== 'moved')
      throw outcome.outcome === 'absent' ? createSourceNotFoundError() : createDestinationExistsError();
    await this.#discard(outcome.replaced);
  }

  /** Stores the same content at another location. Throws the errors of `move`. */
  async copy(caller: Caller, { from, to, replaces }: Relocation<ContentKind>): Promise<void> {
    requireReadable(caller, from);
    requireWritable(caller, to);
    if (!replaces && (await this.findCurrent(to)) !== undefined && (await this.findCurrent(from)) !== undefined)
      throw createDestinationExistsError();
    const opened = await this.#open(from, () => 'complete');
    if (opened?.content === undefined) throw createSourceNotFoundError();
    const { content, file } = opened;
    const { contentType, contentLength: declaredBytes } = file;
    const condition = replaces ? undefined : 'absent';
    const copied = {
      bytes: content,
      contentType,
      declaredBytes,
      condition,
      createConditionError: createDestinationExistsError,
    } as const;
    await this.put(caller, to, copied).finally(() => content.destroy());
  }

  /** Does not throw, because the outcome of the request is already decided. Unused content only takes space. */
  async #discard(file: IndexedFile | undefined): Promise<void> {
    const { blobs, reportError } = this.#deps;
    if (file === undefined) return;
    await blobs.delete(file.blob).catch((error) => reportError(`could not delete the unused content ${file.blob}`, error));
  }
}

interface FileQuotaDeps {
  readonly index: FileIndex;
  readonly clock: Clock;
  readonly maxBucketBytes: number;
}

/** Additional reservation for an upload of unknown size. */
const stepBytes = 8 * 1024 ** 2;
/** Lifetime of a reservation that its node does not renew. */
const reservationMs = 300_000;
const renewAfterMs = 60_000;

/** Reserved quota of one upload, so that concurrent uploads never exceed the quota of a bucket. */
class FileReservation {
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

function toIndexLocation(location: ContentLocation): IndexLocation {
  return { bucket: toIndexBucket(location), path: location.path };
}

export function createResourceNotFoundError({ kind }: { readonly kind: ContentKind }): ParleyError {
  const noun = kind.slice(0, -1);
  return new ParleyError(
    'file_not_found',
    `There is no stored ${noun} at this path. GET /v1/metadata/${kind}/{bucket}/ lists yours.`,
  );
}

export function createFileTooLargeError(maxBytes: number): ParleyError {
  return new ParleyError('payload_too_large', `The file is larger than the maximum of ${maxBytes} bytes.`);
}

function createOverQuotaError(maxBytes: number, usedBytes: number): ParleyError {
  return new ParleyError(
    'payload_too_large',
    `Your bucket contains ${usedBytes} of at most ${maxBytes} bytes, including uploads in progress. Delete files to free space for this upload.`,
  );
}
