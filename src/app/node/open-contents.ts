import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Clock } from '#base/time/clock.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { PassageIndex } from '#domain/tools/passage-index.ts';
import { claimLocation, claimName } from '#stores/files/claim-location.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { LocatedBlobStore } from '#stores/files/located-blob-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlContentsLocation } from '#stores/sql/files/contents-location.ts';
import type { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { SettingError, type Settings } from '../settings.ts';
import { getReason } from './open-database.ts';
import type { StoreDeps } from './stores.ts';

/** A place where contents rest. */
export interface OpenedBlobs {
  readonly blobs: BlobStore & SweptStore;
  /** Whether it is on another machine, and others may use it too. */
  readonly isShared: boolean;
  /** What the operator calls it. */
  readonly location: string;
  readonly close: () => void;
}

/** Opens the place that the settings name. Throws SettingFault. */
export async function openBlobs({ shared, dataFolder }: Settings): Promise<OpenedBlobs> {
  if (shared.files !== undefined) {
    // The client of S3 is loaded only where it is used: it costs 150 ms and 47 MB.
    const { S3BlobStore } = await import('#stores/files/s3-blob-store.ts');
    const blobs = new S3BlobStore(shared.files);
    return { blobs, isShared: true, location: 'PARLEY_FILES_URL', close: () => blobs.close() };
  }
  const location = join(resolve(dataFolder), 'files');
  try {
    const blobs = await DiskBlobStore.open(location, { isShared: shared.databaseUrl !== undefined });
    return { blobs, isShared: false, location, close: () => undefined };
  } catch (error) {
    throw new SettingError(`files cannot be kept in ${dataFolder}: ${getReason(error)}`);
  }
}

/** What knows the files whose contents rest there. */
export interface ContentRecords extends Pick<SweeperDeps, 'index' | 'leases'> {
  readonly database: SqlDatabase;
  /** Resolves once it can be used. */
  readonly reached: Promise<void>;
  /** Whether other nodes use it too. */
  readonly isShared: boolean;
}

/** Contents as a node uses them. */
export interface Contents {
  readonly blobs: BlobStore;
  /** Whether other nodes have them, and this one has not. */
  readonly areElsewhere: () => boolean;
  readonly stop: () => void;
}

/** Sees to it that contents are only used where all nodes of the database find them, and that what no file uses is swept out. */
export function openContents({ blobs, isShared, location }: OpenedBlobs, records: ContentRecords, tools: StoreDeps): Contents {
  const { index, leases, database, reached } = records;
  const noteElsewhere = (name: string): void => tools.reportError(toSuggestion(location, name), undefined);
  const epochMs = (): number => tools.clock.epochMs();
  const placed = records.isShared
    ? new LocatedBlobStore(blobs, { location: new SqlContentsLocation(database), epochMs, onElsewhere: noteElsewhere })
    : undefined;
  const isPlace = async (): Promise<boolean> => (await placed?.locate({ claims: true })) !== 'elsewhere';
  const sweeper = openSweeper({ store: blobs, index, leases, isShared, isPlace }, tools);
  // In a folder beside a database that others share, a content may be of a file that this index does not know.
  if (isShared || !records.isShared) void reached.then(() => sweeper.run());
  if (placed !== undefined)
    reached.then(() => placed.locate({ claims: false })).catch((error) => tools.reportError(notLooked, error));
  return { blobs: placed ?? blobs, areElsewhere: () => placed?.isElsewhere === true, stop: () => sweeper.stop() };
}

const notLooked = 'whether the contents of files are those of the shared database is looked for again with the next file';

/** What an operator can do whose nodes share a database and not the contents of its files. */
function toSuggestion(location: string, name: string): string {
  return (
    `the contents of the files of the shared database do not lie in ${location}: files are refused here. ` +
    'Give every node the same PARLEY_FILES_URL, or the same folder as "files" in its data folder; ' +
    `if they are lost for good, or were copied here, put a file "${claimName}" with the text "${name}" there (docs/deploy.md, Files of several nodes)`
  );
}

interface SweeperDeps {
  readonly store: BlobStore & SweptStore;
  readonly index: SqlFileIndex;
  readonly leases: Pick<PassageIndex, 'claim'>;
  /** Whether others may use the store too: other nodes, and nodes of another database. */
  readonly isShared: boolean;
  /** Whether the contents of the index's files lie in the store. */
  readonly isPlace: () => Promise<boolean>;
}

const turn = 'sweep of contents';
/** Shorter than the day between two sweeps of a node. */
const turnMs = 72_000_000;

/** Makes what sweeps the contents of a node's store. */
export function openSweeper({ store, index, leases, isShared, isPlace }: SweeperDeps, tools: StoreDeps): ContentSweeper {
  const owner = randomUUID();
  const isDue = async (nowMs: number, beforeMs: number): Promise<boolean> => {
    if (!(await isPlace())) return false;
    const claimedAtMs = await claimLocation(store, { database: await index.databaseName(), nowMs });
    if (claimedAtMs === undefined) tools.reportError(foreign, undefined);
    // A place that was claimed just now may be in use by nodes of another database, whose operator is warned in time.
    if (claimedAtMs === undefined || claimedAtMs >= beforeMs) return false;
    return leases.claim({ name: turn, owner, nowMs, untilMs: nowMs + turnMs });
  };
  return new ContentSweeper({ ...tools, store, index, isDue: isShared ? isDue : async () => true });
}

const foreign =
  'PARLEY_FILES_URL names a place whose contents are of the files of another database: what no file uses is left there; give each database a prefix of its own';

interface ContentSweeperDeps extends Pick<Sweeping, 'store' | 'index'>, Pick<StoreDeps, 'note' | 'reportError'> {
  readonly clock: Clock;
  /** Whether it is this node's turn; of nodes that share a store one is enough. Only what was written before `beforeMs` is looked at. */
  readonly isDue: (nowMs: number, beforeMs: number) => Promise<boolean>;
}

/** A day: an upload has a reservation, which protects it too. */
const ageMs = 86_400_000;
const everyMs = 86_400_000;

/** Deletes contents that no file uses, at the start and once a day. Nobody waits for it, and no fault of it ends anything. */
class ContentSweeper {
  readonly #parts: ContentSweeperDeps;
  readonly #stop = new AbortController();

  constructor(parts: ContentSweeperDeps) {
    this.#parts = parts;
  }

  /** What it was about to do is done yet. */
  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#sweep();
      await this.#parts.clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  async #sweep(): Promise<void> {
    const { clock, isDue, note, reportError, ...sweeping } = this.#parts;
    const { signal } = this.#stop;
    const nowMs = clock.epochMs();
    const beforeMs = nowMs - ageMs;
    try {
      if (!(await isDue(nowMs, beforeMs))) return;
      const count = await sweepContents({ ...sweeping, nowMs, beforeMs, signal });
      if (count > 0) note(`${count} contents that no file used were deleted`);
    } catch (error) {
      if (!signal.aborted) reportError('contents that no file uses could not be deleted', error);
    }
  }
}

/** Each asks the index once. */
const maxBatch = 500;
/** What the service names a content: an UUID. Whatever else lies there is somebody's. */
const ownName = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** A store that can say what has lain in it for a while. */
interface SweptStore extends Pick<BlobStore, 'delete'> {
  /** Names of what was written before a moment, in milliseconds since the epoch. */
  writtenBefore(atMs: number): AsyncIterable<string>;
}

interface Sweeping {
  readonly store: SweptStore;
  readonly index: Pick<SqlFileIndex, 'unused'>;
  readonly nowMs: number;
  /** Only what was written before: what is younger may be about to be used. */
  readonly beforeMs: number;
  /** Ends the work between two steps. */
  readonly signal: AbortSignal;
}

/** Deletes contents that no file uses: a crash between two steps leaves them behind. Gives how many there were. Throws StoreFault. */
export async function sweepContents({ store, index, nowMs, beforeMs, signal }: Sweeping): Promise<number> {
  let count = 0;
  let names: string[] = [];
  const sweep = async (): Promise<void> => {
    const unused = names.length === 0 ? [] : await index.unused(names, nowMs);
    for (const name of unused) {
      signal.throwIfAborted();
      await store.delete(name);
      count += 1;
    }
    names = [];
  };
  for await (const name of store.writtenBefore(beforeMs)) {
    signal.throwIfAborted();
    if (ownName.test(name)) names.push(name);
    if (names.length === maxBatch) await sweep();
  }
  await sweep();
  return count;
}
