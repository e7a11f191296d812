import { randomBytes, randomUUID } from 'node:crypto';
import { Seal } from '#base/seal.ts';
import type { CounterArchive } from '#domain/limits/limit-store.ts';
import { BoundedBlobStore } from '#stores/files/bounded-blob-store.ts';
import { ArchivedLimitStore } from '#stores/memory/archived-limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { SqlApplicationStore } from '#stores/sql/application-store.ts';
import { SqlChatStore } from '#stores/sql/chat-store.ts';
import { chatTextBounds } from '#stores/sql/chat-texts.ts';
import { SqlConsentStore } from '#stores/sql/consent-store.ts';
import { SqlConversationStore } from '#stores/sql/conversation-store.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluation-store.ts';
import { SqlFileIndex } from '#stores/sql/file-index.ts';
import { SqlJournal } from '#stores/sql/journal.ts';
import { SqlKeyStore } from '#stores/sql/key-store.ts';
import { SqlLimitCounters } from '#stores/sql/limit-counters.ts';
import { SqlPassageIndex } from '#stores/sql/passage-index.ts';
import { SqlResponseStore } from '#stores/sql/response-store.ts';
import { SqlShareStore } from '#stores/sql/share-store.ts';
import { openDataFolder } from './data-folder.ts';
import { chatTextBytes, memoryOfProcess } from './memory-shares.ts';
import { keepContents, openBlobs } from './open-contents.ts';
import { openDatabase } from './open-database.ts';
import { openOwnSecret } from './open-secrets.ts';
import type { Settings } from './settings.ts';
import type { DurableStores, Opened, PassingStores, SharedStore, StoreDeps } from './stores.ts';

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
  const passing = await openPassing(settings, tools, durable).catch(async (thrown) => {
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

/** The database of a node, as the counters of limits need it. */
interface CounterSource {
  readonly counters: CounterArchive;
  /** Resolves once the database can be used. */
  readonly reached: Promise<void>;
  readonly shared: readonly SharedStore[];
}

async function openDurable(settings: Settings, seal: Seal, tools: StoreDeps): Promise<Opened<DurableStores & CounterSource>> {
  const { database, reached, shared, takesWrites, close: closeDatabase } = await openDatabase(settings, tools);
  const opened = await openBlobs(settings).catch(async (thrown) => {
    await closeDatabase();
    throw thrown;
  });
  const applications = new SqlApplicationStore(database, seal, tools.caches);
  const index = new SqlFileIndex(database);
  const passages = new SqlPassageIndex(database);
  void reached.then(() => sealAnew(applications, tools));
  const records = { database, index, leases: passages, reached, isShared: shared.length > 0 };
  const responses = new SqlResponseStore(database, seal);
  const contents = keepContents(opened, records, tools);
  const owner = shared.length === 0 ? 'this node' : randomUUID();
  return {
    counters: new SqlLimitCounters(database, owner),
    reached,
    consents: new SqlConsentStore(database),
    applications,
    files: { index, blobs: new BoundedBlobStore(contents.blobs, maxUploads) },
    passages: { index: passages, owner },
    responses: {
      responses,
      conversations: new SqlConversationStore(database, seal),
      isShared: shared.length > 0,
    },
    evaluations: {
      store: new SqlEvaluationStore(database, seal),
      leases: responses.runs,
      isShared: shared.length > 0,
    },
    chats: new SqlChatStore(database, seal, tools.caches.open('chat_texts', chatTextBounds(chatTextBytes(memoryOfProcess())))),
    shares: new SqlShareStore(database, seal),
    keys: { store: new SqlKeyStore(database), isShared: shared.length > 0 },
    journal: new SqlJournal(database),
    shared,
    takesWrites,
    areFilesElsewhere: contents.areElsewhere,
    async close() {
      contents.stop();
      opened.close();
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

/** The client of Redis is loaded only where it is used. */
async function openPassing(
  { shared }: Settings,
  tools: StoreDeps,
  { counters, reached, shared: databases }: CounterSource,
): Promise<Opened<PassingStores>> {
  if (shared.redisUrl !== undefined) {
    const { openRedisStores } = await import('./open-redis-stores.ts');
    return openRedisStores(shared.redisUrl, tools);
  }
  const perRequestKeys = new MemoryPerRequestKeys(tools.newKey);
  const limits = new ArchivedLimitStore({ archive: counters, ...tools });
  const restored = reached.then(() => limits.restore());
  if (!databases.some(({ isAway }) => isAway())) await restored;
  return { perRequestKeys, limits, broadcast: undefined, shared: [], close: () => limits.close() };
}
