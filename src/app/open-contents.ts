import { join, resolve } from 'node:path';
import type { BlobStore } from '#domain/files/blob-store.ts';
import { claimName } from '#stores/files/claim-place.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { PlacedBlobStore } from '#stores/files/placed-blob-store.ts';
import { SqlContentsPlace } from '#stores/sql/contents-place.ts';
import type { SqlDatabase } from '#stores/sql/sql-database.ts';
import { reasonOf } from './open-database.ts';
import { openSweeper, type SweeperDeps } from './open-sweeper.ts';
import { SettingFault, type Settings } from './settings.ts';
import type { StoreDeps } from './stores.ts';
import type { SweptStore } from './sweep-contents.ts';

/** A place where contents rest. */
export interface OpenedBlobs {
  readonly blobs: BlobStore & SweptStore;
  /** Whether it is on another machine, and others may use it too. */
  readonly isShared: boolean;
  /** What the operator calls it. */
  readonly place: string;
  readonly close: () => void;
}

/** Opens the place that the settings name. Throws SettingFault. */
export async function openBlobs({ shared, dataFolder }: Settings): Promise<OpenedBlobs> {
  if (shared.files !== undefined) {
    // The client of S3 is loaded only where it is used: it costs 150 ms and 47 MB.
    const { S3BlobStore } = await import('#stores/files/s3-blob-store.ts');
    const blobs = new S3BlobStore(shared.files);
    return { blobs, isShared: true, place: 'PARLEY_FILES_URL', close: () => blobs.close() };
  }
  const place = join(resolve(dataFolder), 'files');
  try {
    const blobs = await DiskBlobStore.open(place, { isShared: shared.databaseUrl !== undefined });
    return { blobs, isShared: false, place, close: () => undefined };
  } catch (thrown) {
    throw new SettingFault(`files cannot be kept in ${dataFolder}: ${reasonOf(thrown)}`);
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
export function keepContents({ blobs, isShared, place }: OpenedBlobs, records: ContentRecords, tools: StoreDeps): Contents {
  const { index, leases, database, reached } = records;
  const noteElsewhere = (name: string): void => tools.noteFault(toAdvice(place, name), undefined);
  const epochMs = (): number => tools.clock.epochMs();
  const placed = records.isShared
    ? new PlacedBlobStore(blobs, { place: new SqlContentsPlace(database), epochMs, noteElsewhere })
    : undefined;
  const isPlace = async (): Promise<boolean> => (await placed?.look({ claims: true })) !== 'elsewhere';
  const sweeper = openSweeper({ store: blobs, index, leases, isShared, isPlace }, tools);
  // In a folder beside a database that others share, a content may be of a file that this index does not know.
  if (isShared || !records.isShared) void reached.then(() => sweeper.run());
  if (placed !== undefined)
    reached.then(() => placed.look({ claims: false })).catch((thrown) => tools.noteFault(notLooked, thrown));
  return { blobs: placed ?? blobs, areElsewhere: () => placed?.isElsewhere === true, stop: () => sweeper.stop() };
}

const notLooked = 'whether the contents of files are those of the shared database is looked for again with the next file';

/** What an operator can do whose nodes share a database and not the contents of its files. */
function toAdvice(place: string, name: string): string {
  return (
    `the contents of the files of the shared database do not lie in ${place}: files are refused here. ` +
    'Give every node the same PARLEY_FILES_URL, or the same folder as "files" in its data folder; ' +
    `if they are lost for good, or were copied here, put a file "${claimName}" with the text "${name}" there (docs/deploy.md, Files of several nodes)`
  );
}
