import { randomUUID } from 'node:crypto';
import type { BlobStore } from '#domain/files/blob-store.ts';
import type { PassageIndex } from '#domain/tools/passage-index.ts';
import { claimPlace } from '#stores/files/claim-place.ts';
import type { SqlFileIndex } from '#stores/sql/file-index.ts';
import { ContentSweeper } from './content-sweeper.ts';
import type { StoreDeps } from './stores.ts';
import type { SweptStore } from './sweep-contents.ts';

export interface SweeperDeps {
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
    const claimedAtMs = await claimPlace(store, { database: await index.databaseName(), nowMs });
    if (claimedAtMs === undefined) tools.noteFault(foreign, undefined);
    // A place that was claimed just now may be in use by nodes of another database, whose operator is warned in time.
    if (claimedAtMs === undefined || claimedAtMs >= beforeMs) return false;
    return leases.claim({ name: turn, owner, nowMs, untilMs: nowMs + turnMs });
  };
  return new ContentSweeper({ ...tools, store, index, isDue: isShared ? isDue : async () => true });
}

const foreign =
  'PARLEY_FILES_URL names a place whose contents are of the files of another database: what no file uses is left there; give each database a prefix of its own';
