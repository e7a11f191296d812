import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { dayMs } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { PassageIndex } from '#domain/tools/passage-index.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { claimLocation, claimName, LocatedBlobStore } from '#stores/files/located-blob-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlContentsLocation } from '#stores/sql/files/contents-location.ts';
import type { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { getReason, SettingError, type Settings } from '../settings.ts';
import { doesNodeTasks } from '../workers/worker-context.ts';
import type { StoreDeps } from './stores.ts';

/** Storage location of file contents. */
export interface OpenedBlobs {
  readonly blobs: BlobStore & SweptStore;
  /** Whether the location is on another machine and may be shared with other nodes. */
  readonly isShared: boolean;
  /** Name of the location for the operator. */
  readonly location: string;
  readonly close: () => void;
}

/** Opens the location from the settings. Throws SettingError. */
export async function openBlobs({ shared, dataFolder, workers }: Settings): Promise<OpenedBlobs> {
  if (shared.files !== undefined) {
    // The S3 client is loaded only if it is used, because it costs 150 ms and 47 MB.
    const { S3BlobStore } = await import('#stores/files/s3-blob-store.ts');
    const blobs = new S3BlobStore(shared.files);
    return { blobs, isShared: true, location: 'PARLEY_FILES_URL', close: () => blobs.close() };
  }
  const location = join(resolve(dataFolder), 'files');
  try {
    const blobs = await DiskBlobStore.open(location, { isShared: shared.databaseUrl !== undefined || workers > 1 });
    return { blobs, isShared: false, location, close: () => undefined };
  } catch (error) {
    throw new SettingError(`cannot store files in ${dataFolder}: ${getReason(error)}`);
  }
}

/** Records of the files whose contents are in the location. */
export interface FileRecords extends Pick<SweeperDeps, 'index' | 'leases'> {
  readonly database: SqlDatabase;
  /** Resolves when the database is reachable. */
  readonly reached: Promise<void>;
  /** Whether other nodes use the database too. */
  readonly isShared: boolean;
}

/** Contents of files as a node uses them. */
export interface FileContents {
  readonly blobs: BlobStore;
  /** Returns whether other nodes store the contents in a different location. */
  readonly areElsewhere: () => boolean;
  readonly stop: () => void;
}

/**
 * Opens the file contents of a node. With a shared database, the node rejects files if the database records another location of
 * the contents. Regularly deletes contents that no file uses.
 */
export function openContents({ blobs, isShared, location }: OpenedBlobs, records: FileRecords, deps: StoreDeps): FileContents {
  const { index, leases, database, reached } = records;
  const reportElsewhere = (name: string): void => deps.reportError(formatElsewhere(location, name), undefined);
  const epochMs = (): number => deps.clock.epochMs();
  const locatedBlobs = records.isShared
    ? new LocatedBlobStore(blobs, { location: new SqlContentsLocation(database), epochMs, onElsewhere: reportElsewhere })
    : undefined;
  const ownsContents = async (): Promise<boolean> => (await locatedBlobs?.locate({ claims: true })) !== 'elsewhere';
  const sweeper = openSweeper({ store: blobs, index, leases, isShared, ownsContents }, deps);
  // If the database is shared, a local folder is not swept: it may contain files that this index does not know. One worker sweeps
  // for the node.
  const mustSweep = (isShared || !records.isShared) && doesNodeTasks(deps.worker);
  if (mustSweep) void reached.then(() => sweeper.run());
  if (locatedBlobs !== undefined)
    reached.then(() => locatedBlobs.locate({ claims: false })).catch((error) => deps.reportError(uncheckedMessage, error));
  return { blobs: locatedBlobs ?? blobs, areElsewhere: () => locatedBlobs?.isElsewhere === true, stop: sweeper.stop };
}

const uncheckedMessage =
  'could not check whether the contents of files belong to the shared database. The next file triggers another check';

/** Returns the log message for nodes that share a database but not the contents of its files. */
function formatElsewhere(location: string, name: string): string {
  return (
    `the file contents of the shared database are not in ${location}, so this node rejects files. ` +
    'Set the same PARLEY_FILES_URL on every node, or mount the same folder as "files" in the data folders. ' +
    `If the contents are lost or were copied to this location, create a file "${claimName}" with the text "${name}" there (docs/deploy.md, Files of several nodes)`
  );
}

interface SweeperDeps {
  readonly store: BlobStore & SweptStore;
  readonly index: SqlFileIndex;
  readonly leases: Pick<PassageIndex, 'claim'>;
  /** Whether other nodes, or nodes of another database, may use the store. */
  readonly isShared: boolean;
  /** Returns whether the contents of the index's files are in the store. */
  readonly ownsContents: () => Promise<boolean>;
}

const leaseName = 'sweep of contents';
/** Duration of the lease. It is shorter than the interval of 1 day between two sweeps of a node. */
const leaseMs = 72_000_000;

/**
 * Returns the sweeper for the contents of a node's store. At the start and then once a day, it deletes unused contents that are
 * older than a day. It reports errors and continues.
 */
export function openSweeper(
  { store, index, leases, isShared, ownsContents }: SweeperDeps,
  { clock, note, reportError }: Pick<StoreDeps, 'clock' | 'note' | 'reportError'>,
) {
  const owner = randomUUID();
  const aborter = new AbortController();
  const { signal } = aborter;
  // If nodes share a store, only one of them sweeps it.
  const isDue = async (nowMs: number, beforeMs: number): Promise<boolean> => {
    if (!(await ownsContents())) return false;
    const claimedAtMs = await claimLocation(store, { database: await index.readDatabaseName(), nowMs });
    if (claimedAtMs === undefined) reportError(foreignContentsMessage, undefined);
    // Skips a location that was claimed recently. Nodes of another database may use it, and their operator has a day to react to
    // the warning.
    if (claimedAtMs === undefined || claimedAtMs >= beforeMs) return false;
    return leases.claim({ name: leaseName, owner, nowMs, untilMs: nowMs + leaseMs });
  };
  const sweep = async (): Promise<void> => {
    const nowMs = clock.epochMs();
    // Uploads in progress are also protected by their reservation.
    const beforeMs = nowMs - dayMs;
    try {
      if (isShared && !(await isDue(nowMs, beforeMs))) return;
      const count = await sweepContents({ store, index, nowMs, beforeMs, signal });
      if (count > 0) note(`deleted ${count} unused file contents`);
    } catch (error) {
      if (!signal.aborted) reportError('cannot delete unused file contents', error);
    }
  };
  return {
    async run(): Promise<void> {
      while (!signal.aborted) {
        await sweep();
        await clock.sleep(dayMs, signal).catch(() => undefined);
      }
    },
    /** Stops the sweeper. A step in progress still completes. */
    stop: () => aborter.abort(),
  };
}

const foreignContentsMessage =
  'PARLEY_FILES_URL contains file contents of another database, so unused contents are not deleted. Use a different prefix for each database';

/** Maximum number of names per index query. */
const maxBatch = 500;
/** Form of content names, which are UUIDs. Other files in the location are not touched. */
const contentNamePattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Store that can list old contents. */
interface SweptStore extends Pick<BlobStore, 'delete'> {
  /** Returns the names of contents written before a time, in milliseconds since the epoch. */
  listWrittenBefore(atMs: number): AsyncIterable<string>;
}

interface SweepOptions {
  readonly store: SweptStore;
  readonly index: Pick<SqlFileIndex, 'findUnused'>;
  readonly nowMs: number;
  /** Upper bound of the write time. Younger contents may not be in the index yet. */
  readonly beforeMs: number;
  /** Cancels the sweep between two steps. */
  readonly signal: AbortSignal;
}

/** Deletes unused contents, which remain after a crash between two steps. Returns their number. Throws StoreError. */
export async function sweepContents({ store, index, nowMs, beforeMs, signal }: SweepOptions): Promise<number> {
  let count = 0;
  let names: string[] = [];
  const sweep = async (): Promise<void> => {
    const unused = names.length === 0 ? [] : await index.findUnused(names, nowMs);
    for (const name of unused) {
      signal.throwIfAborted();
      await store.delete(name);
      count += 1;
    }
    names = [];
  };
  for await (const name of store.listWrittenBefore(beforeMs)) {
    signal.throwIfAborted();
    if (contentNamePattern.test(name)) names.push(name);
    if (names.length === maxBatch) await sweep();
  }
  await sweep();
  return count;
}
