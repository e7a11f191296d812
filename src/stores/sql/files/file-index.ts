import type { Kysely } from 'kysely';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey, isStorableText } from '#base/text/storable-key.ts';
import type {
  FileIndex,
  FileMove,
  FilePage,
  FileQuery,
  IndexedFile,
  IndexLocation,
  MoveOutcome,
  OverQuota,
  PutOutcome,
  Reservation,
} from '#domain/files/file-index.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { requireStorable } from '../engine/stored-values.ts';
import type { ReservationRow, Schema } from '../schema.ts';

/** Maximum number of paths in one query. It exceeds the number of files that one application may name. */
const pathsPerQuery = 1000;
const fileColumns = [
  'bucket',
  'path',
  'content_type as contentType',
  'content_length as contentLength',
  'etag',
  'blob',
  'created_at_ms as createdAtMs',
  'updated_at_ms as updatedAtMs',
] as const;

/** Files, one row each. The row of a bucket in `buckets` holds the sum of their bytes and serializes the writes. */
export class SqlFileIndex implements FileIndex {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async find(bucket: string, path: string): Promise<IndexedFile | undefined> {
    if (!isStorableKey(bucket) || !isStorableKey(path)) return undefined;
    return this.#database.run((kysely) => findFile(kysely, bucket, path));
  }

  async findAll(locations: readonly IndexLocation[]): Promise<readonly IndexedFile[]> {
    const byBucket = Map.groupBy(
      locations.filter(({ bucket, path }) => isStorableKey(bucket) && isStorableKey(path)),
      ({ bucket }) => bucket,
    );
    return this.#database.run(async (kysely) => {
      const files = await Array.fromAsync(byBucket, ([bucket, bucketLocations]) => findFiles(kysely, bucket, bucketLocations));
      return files.flat();
    });
  }

  async reserve(
    { bucket, path, blob, bytes, nowMs, untilMs }: Reservation,
    maxBucketBytes: number,
  ): Promise<'reserved' | OverQuota> {
    requireStorable(bucket, path, blob);
    return this.#database.transact(async (transaction) => {
      const usedBytes = await lockBucket(transaction, bucket);
      const existing = await findFile(transaction, bucket, path);
      await deleteExpired(transaction, bucket, nowMs);
      const otherReservations = await readReservations(transaction, bucket, { except: blob, nowMs });
      const replaced = countReplacedBytes(otherReservations, path, existing?.contentLength ?? 0);
      const usedTotal = usedBytes + otherReservations.bytes;
      const addedBytes = bytes - replaced;
      if (addedBytes > 0 && usedTotal + addedBytes > maxBucketBytes) return { outcome: 'over_quota', usedBytes: usedTotal };
      const row = { blob, bucket, path, reserved_bytes: bytes, replaced_bytes: replaced, until_ms: untilMs };
      await transaction
        .insertInto('file_reservations')
        .values(row)
        .onConflict((conflict) => conflict.column('blob').doUpdateSet(row))
        .execute();
      return 'reserved';
    });
  }

  async release(blob: string): Promise<void> {
    await this.#database.run((kysely) => kysely.deleteFrom('file_reservations').where('blob', '=', blob).execute());
  }

  async put(file: IndexedFile, condition: WriteCondition, maxBucketBytes: number): Promise<PutOutcome> {
    const { bucket, path } = file;
    requireStorable(bucket, path);
    return this.#database.transact<PutOutcome>(async (transaction) => {
      const usedBytes = await lockBucket(transaction, bucket);
      const existing = await findFile(transaction, bucket, path);
      if (!isMet(condition, existing?.etag)) return { outcome: 'condition_failed' };
      const otherReservations = await readReservations(transaction, bucket, { except: file.blob, nowMs: file.updatedAtMs });
      const addedBytes = file.contentLength - (existing?.contentLength ?? 0);
      const bytesAfter = usedBytes + addedBytes;
      if (addedBytes > 0 && bytesAfter + otherReservations.bytes > maxBucketBytes)
        return { outcome: 'over_quota', usedBytes: usedBytes + otherReservations.bytes };
      const stored = { ...file, createdAtMs: existing?.createdAtMs ?? file.createdAtMs };
      await replaceFile(transaction, stored);
      await transaction.deleteFrom('file_reservations').where('blob', '=', file.blob).execute();
      await setUsedBytes(transaction, bucket, bytesAfter);
      return { outcome: 'stored', stored, replaced: existing };
    });
  }

  async delete(bucket: string, path: string, condition: WriteCondition): Promise<IndexedFile | 'absent' | 'condition_failed'> {
    if (!isStorableKey(bucket) || !isStorableKey(path)) return 'absent';
    return this.#database.transact(async (transaction) => {
      const usedBytes = await lockBucket(transaction, bucket);
      const existing = await findFile(transaction, bucket, path);
      if (existing === undefined) return 'absent';
      if (!isMet(condition, existing.etag)) return 'condition_failed';
      await deleteRow(transaction, bucket, path);
      await setUsedBytes(transaction, bucket, usedBytes - existing.contentLength);
      return existing;
    });
  }

  async move({ from, to, replaces, nowMs }: FileMove, maxBucketBytes: number): Promise<MoveOutcome> {
    if (!isStorableKey(from.bucket) || !isStorableKey(from.path)) return { outcome: 'absent' };
    requireStorable(to.bucket, to.path);
    return this.#database.transact<MoveOutcome>(async (transaction) => {
      const usedByBucket = await lockBuckets(transaction, [from.bucket, to.bucket]);
      const moved = await findFile(transaction, from.bucket, from.path);
      if (moved === undefined) return { outcome: 'absent' };
      const replaced = await findFile(transaction, to.bucket, to.path);
      if (replaced !== undefined && !replaces) return { outcome: 'occupied' };
      const removedBytes = moved.contentLength;
      const addedBytes = moved.contentLength - (replaced?.contentLength ?? 0);
      const bytesAfter = (usedByBucket.get(to.bucket) ?? 0) + addedBytes - (from.bucket === to.bucket ? removedBytes : 0);
      const { bytes: reserved } = await readReservations(transaction, to.bucket, { except: '', nowMs });
      if (from.bucket !== to.bucket && addedBytes > 0 && bytesAfter + reserved > maxBucketBytes)
        return { outcome: 'over_quota', usedBytes: (usedByBucket.get(to.bucket) ?? 0) + reserved };
      await deleteRow(transaction, from.bucket, from.path);
      await replaceFile(transaction, { ...moved, ...to, updatedAtMs: nowMs });
      if (from.bucket !== to.bucket)
        await setUsedBytes(transaction, from.bucket, (usedByBucket.get(from.bucket) ?? 0) - removedBytes);
      await setUsedBytes(transaction, to.bucket, bytesAfter);
      return { outcome: 'moved', replaced };
    });
  }

  /** Returns the blobs that no file uses and that are not reserved. */
  async findUnused(blobs: readonly string[], nowMs: number): Promise<readonly string[]> {
    return this.#database.run(async (kysely) => {
      // Reservations are read first. A file that is stored between the two reads loses its reservation, but the second read finds
      // the file.
      const activeReservations = kysely.selectFrom('file_reservations').select('blob').where('until_ms', '>', nowMs);
      const reserved = await activeReservations.where('blob', 'in', blobs).execute();
      const stored = await kysely.selectFrom('files').select('blob').where('blob', 'in', blobs).execute();
      const used = new Set([...reserved, ...stored].map(({ blob }) => blob));
      return blobs.filter((blob) => !used.has(blob));
    });
  }

  /** Returns a name that no other database has, except copies of this one. */
  async readDatabaseName(): Promise<string> {
    const { name } = await this.#database.run((kysely) =>
      kysely.selectFrom('database_name').select('name').executeTakeFirstOrThrow(),
    );
    return name;
  }

  async list({ bucket, prefix, after, limit }: FileQuery): Promise<FilePage> {
    if (!isStorableKey(bucket) || !isStorableKey(prefix) || !isStorableText(after ?? '')) return { items: [], next: undefined };
    const end = toPrefixEnd(prefix);
    const rows = await this.#database.run((kysely) => {
      const all = kysely.selectFrom('files').select(fileColumns).where('bucket', '=', bucket).where('path', '>=', prefix);
      const within = end === undefined ? all : all.where('path', '<', end);
      const page = after === undefined ? within : within.where('path', '>', after);
      return page
        .orderBy('path')
        .limit(limit + 1)
        .execute();
    });
    const items = rows.slice(0, limit);
    return { items, next: rows.length > limit ? items.at(-1)?.path : undefined };
  }
}

/** Returns the used bytes of a bucket and locks it until the transaction ends. */
async function lockBucket(transaction: Kysely<Schema>, bucket: string): Promise<number> {
  const { used_bytes } = await transaction
    .insertInto('buckets')
    .values({ bucket, used_bytes: 0 })
    .onConflict((conflict) => conflict.column('bucket').doUpdateSet(({ ref }) => ({ used_bytes: ref('buckets.used_bytes') })))
    .returning('used_bytes')
    .executeTakeFirstOrThrow();
  return used_bytes;
}

/** Locks several buckets, always in the same order to avoid deadlocks. */
async function lockBuckets(transaction: Kysely<Schema>, buckets: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const used = new Map<string, number>();
  for (const bucket of [...new Set(buckets)].sort()) used.set(bucket, await lockBucket(transaction, bucket));
  return used;
}

async function deleteRow(transaction: Kysely<Schema>, bucket: string, path: string): Promise<void> {
  await transaction.deleteFrom('files').where('bucket', '=', bucket).where('path', '=', path).execute();
}

async function setUsedBytes(transaction: Kysely<Schema>, bucket: string, usedBytes: number): Promise<void> {
  await transaction.updateTable('buckets').set({ used_bytes: usedBytes }).where('bucket', '=', bucket).execute();
}

function findFile(kysely: Kysely<Schema>, bucket: string, path: string): Promise<IndexedFile | undefined> {
  return kysely.selectFrom('files').select(fileColumns).where('bucket', '=', bucket).where('path', '=', path).executeTakeFirst();
}

async function findFiles(
  kysely: Kysely<Schema>,
  bucket: string,
  locations: readonly IndexLocation[],
): Promise<readonly IndexedFile[]> {
  const paths = locations.map(({ path }) => path);
  const files = await Array.fromAsync(splitIntoBatches(paths, pathsPerQuery), (batch) =>
    kysely.selectFrom('files').select(fileColumns).where('bucket', '=', bucket).where('path', 'in', batch).execute(),
  );
  return files.flat();
}

async function replaceFile(transaction: Kysely<Schema>, file: IndexedFile): Promise<void> {
  const row = {
    ...{ bucket: file.bucket, path: file.path, etag: file.etag, blob: file.blob },
    ...{ content_type: file.contentType, content_length: file.contentLength },
    ...{ created_at_ms: file.createdAtMs, updated_at_ms: file.updatedAtMs },
  };
  await transaction
    .insertInto('files')
    .values(row)
    .onConflict((conflict) => conflict.columns(['bucket', 'path']).doUpdateSet(row))
    .execute();
}

const lastCodePoint = 0x10ffff;
const surrogates = { first: 0xd800, last: 0xdfff };

/** Returns the first text, by code points, that sorts after all texts with the prefix, if there is such a text. */
export function toPrefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === surrogates.first ? surrogates.last + 1 : last + 1;
  return String.fromCodePoint(...points, next);
}

/** Reserved space in a bucket for uploads in progress. */
interface ReservedSpace {
  /** Reserved bytes in addition to the bytes of the files that the uploads replace. */
  readonly bytes: number;
  readonly rows: readonly Pick<ReservationRow, 'path' | 'replaced_bytes'>[];
}

/** Returns the unexpired reservations of a bucket except that of one blob. The transaction must hold the lock of the bucket. */
async function readReservations(
  transaction: Kysely<Schema>,
  bucket: string,
  { except, nowMs }: { except: string; nowMs: number },
): Promise<ReservedSpace> {
  const rows = await transaction
    .selectFrom('file_reservations')
    .select(['path', 'reserved_bytes', 'replaced_bytes'])
    .where('bucket', '=', bucket)
    .where('blob', '!=', except)
    .where('until_ms', '>', nowMs)
    .execute();
  return { rows, bytes: rows.reduce((sum, row) => sum + Math.max(row.reserved_bytes - row.replaced_bytes, 0), 0) };
}

/** Deletes expired reservations, which belong to nodes that have ended. */
async function deleteExpired(transaction: Kysely<Schema>, bucket: string, nowMs: number): Promise<void> {
  await transaction.deleteFrom('file_reservations').where('bucket', '=', bucket).where('until_ms', '<=', nowMs).execute();
}

/** Returns the bytes that an upload frees by replacing the file. Only the first of several uploads may count them. */
function countReplacedBytes({ rows }: ReservedSpace, path: string, existingBytes: number): number {
  return rows.some((row) => row.path === path && row.replaced_bytes > 0) ? 0 : existingBytes;
}
