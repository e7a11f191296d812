import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Seal } from '#base/seal.ts';
import type { BlobStore } from '#domain/files/blob-store.ts';
import { BoundedBlobStore } from '#stores/files/bounded-blob-store.ts';
import { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { SqlApplicationStore } from '#stores/sql/application-store.ts';
import { SqlConsentStore } from '#stores/sql/consent-store.ts';
import { SqlConversationStore } from '#stores/sql/conversation-store.ts';
import { SqlFileIndex } from '#stores/sql/file-index.ts';
import { SqlJournal } from '#stores/sql/journal.ts';
import { SqlPassageIndex } from '#stores/sql/passage-index.ts';
import { SqlResponseStore } from '#stores/sql/response-store.ts';
import { openDataFolder } from './data-folder.ts';
import { openDatabase, reasonOf } from './open-database.ts';
import { openOwnSecret } from './open-secrets.ts';
import { openSweeper } from './open-sweeper.ts';
import { SettingFault, type Settings } from './settings.ts';
import type { DurableStores, Opened, PassingStores, SharedStore, StoreDeps } from './stores.ts';
import type { SweptStore } from './sweep-contents.ts';

/** Where the state of a node rests. */
export interface Stores extends Omit<DurableStores, 'shared'>, Omit<PassingStores, 'shared'> {
  /** Encrypts what is kept, signs what callers keep. */
  readonly seal: Seal;
}

const keyBytes = 32;
/** Each holds up to 10 MiB of memory, and its file on the disk before its size is known. One bucket gets a part of them (`defaultFileLimits`). */
const maxUploads = 64;

/** Opens the stores that the settings name. Throws SettingFault where one cannot be used. */
export async function openStores(
  settings: Settings,
  given: Omit<StoreDeps, 'newKey'>,
): Promise<Opened<Stores & { readonly shared: readonly SharedStore[] }>> {
  const tools = { ...given, newKey: () => randomBytes(keyBytes).toString('base64url') };
  const lock = await openDataFolder(settings);
  try {
    const stores = await openAll(settings, tools);
    return { ...stores, close: () => stores.close().finally(() => lock?.release()) };
  } catch (thrown) {
    lock?.release();
    throw thrown;
  }
}

async function openAll(
  settings: Settings,
  tools: StoreDeps,
): Promise<Opened<Stores & { readonly shared: readonly SharedStore[] }>> {
  const secrets = settings.secrets.length > 0 ? settings.secrets : [await openOwnSecret(settings.dataFolder)];
  const seal = new Seal(secrets);
  const durable = await openDurable(settings, seal, tools);
  const passing = await openPassing(settings, tools).catch(async (thrown) => {
    await durable.close();
    throw thrown;
  });
  return {
    ...durable,
    ...passing,
    shared: [...durable.shared, ...passing.shared],
    seal,
    async close() {
      await passing.close();
      await durable.close();
    },
  };
}

async function openDurable(settings: Settings, seal: Seal, tools: StoreDeps): Promise<Opened<DurableStores>> {
  const { database, reached, shared, takesWrites, close: closeDatabase } = await openDatabase(settings, tools);
  const {
    blobs,
    isShared,
    close: closeBlobs,
  } = await openBlobs(settings).catch(async (thrown) => {
    await closeDatabase();
    throw thrown;
  });
  const applications = new SqlApplicationStore(database, seal, tools.caches);
  const index = new SqlFileIndex(database);
  const passages = new SqlPassageIndex(database);
  void reached.then(() => sealAnew(applications, tools));
  const sweeper = openSweeper({ store: blobs, index, leases: passages, isShared }, tools);
  // In a folder of this node, beside a database that others share, a content may be of a file that this index does not know.
  if (isShared || shared.length === 0) void reached.then(() => sweeper.run());
  return {
    consents: new SqlConsentStore(database),
    applications,
    files: { index, blobs: new BoundedBlobStore(blobs, maxUploads) },
    passages: { index: passages, owner: shared.length === 0 ? 'this node' : randomUUID() },
    responses: {
      responses: new SqlResponseStore(database, seal),
      conversations: new SqlConversationStore(database, seal),
      isShared: shared.length > 0,
    },
    journal: new SqlJournal(database),
    shared,
    takesWrites,
    async close() {
      sweeper.stop();
      closeBlobs();
      await closeDatabase();
    },
  };
}

/** So that an older secret can be given up. Nobody waits for it: until it is done the older one opens what it sealed. */
async function sealAnew(applications: SqlApplicationStore, { note, noteFault }: StoreDeps): Promise<void> {
  try {
    const count = await applications.sealAnew();
    if (count > 0) note(`${count} applications were sealed with the newest secret; older ones are not needed for them any more`);
  } catch (thrown) {
    noteFault('not all applications could be sealed with the newest secret: keep the older ones, and start again', thrown);
  }
}

interface OpenedBlobs {
  readonly blobs: BlobStore & SweptStore;
  readonly isShared: boolean;
  readonly close: () => void;
}

/** The client of S3 is loaded only where it is used: it costs 150 ms and 47 MB. */
async function openBlobs({ shared, dataFolder }: Settings): Promise<OpenedBlobs> {
  if (shared.files !== undefined) {
    const { S3BlobStore } = await import('#stores/files/s3-blob-store.ts');
    const blobs = new S3BlobStore(shared.files);
    return { blobs, isShared: true, close: () => blobs.close() };
  }
  try {
    return { blobs: await DiskBlobStore.open(join(dataFolder, 'files')), isShared: false, close: () => undefined };
  } catch (thrown) {
    throw new SettingFault(`files cannot be kept in ${dataFolder}: ${reasonOf(thrown)}`);
  }
}

/** The client of Redis is loaded only where it is used. */
async function openPassing({ shared }: Settings, tools: StoreDeps): Promise<Opened<PassingStores>> {
  if (shared.redisUrl !== undefined) {
    const { openRedisStores } = await import('./open-redis-stores.ts');
    return openRedisStores(shared.redisUrl, tools);
  }
  const perRequestKeys = new MemoryPerRequestKeys(tools.newKey);
  return { perRequestKeys, limits: new MemoryLimitStore(), broadcast: undefined, shared: [], close: async () => undefined };
}
