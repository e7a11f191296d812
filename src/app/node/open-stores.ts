import { randomUUID } from 'node:crypto';
import { createRandomSecret, Seal, SealError } from '#base/secrets/seal.ts';
import type { CounterArchive } from '#domain/limits/limit-store.ts';
import { StoreError } from '#domain/store-error.ts';
import type { Journal } from '#domain/usage/journal.ts';
import { BoundedBlobStore } from '#stores/files/bounded-blob-store.ts';
import { ArchivedLimitStore } from '#stores/memory/archived-limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { SqlNodeStore } from '#stores/sql/administration/node-store.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlBlockedUserStore } from '#stores/sql/callers/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlPeopleStore } from '#stores/sql/callers/people-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { toChatTextBounds } from '#stores/sql/chats/chat-texts.ts';
import { SqlShareStore } from '#stores/sql/chats/share-store.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluations/evaluation-store.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { SqlCallContents } from '#stores/sql/journal/call-contents.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlAlertStore } from '#stores/sql/limits/alert-store.ts';
import { SqlLimitCounters } from '#stores/sql/limits/limit-counters.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { resealAll } from '#stores/sql/reseal.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { SqlScimStore } from '#stores/sql/scim/scim-store.ts';
import { getChatTextBytes, getProcessMemory } from '../process/memory-shares.ts';
import type { Settings } from '../settings.ts';
import { doesNodeTasks } from '../workers/worker-context.ts';
import { openBlobs, openContents } from './open-contents.ts';
import { openDataFolder, openOwnSecret } from './open-data-folder.ts';
import { openDatabase, openReplica } from './open-database.ts';
import {
  type Closeable,
  type DurableStores,
  type EphemeralStores,
  type SharedStore,
  type StoreDeps,
  thisNode,
} from './stores.ts';

/** Stores of a node. */
export interface Stores extends Omit<DurableStores, 'shared'>, Omit<EphemeralStores, 'shared'> {
  /** Encrypts stored data and signs data that clients store. */
  readonly seal: Seal;
}

/**
 * Maximum number of concurrent uploads. Each uses up to 10 MiB of memory, and disk space before its size is known. One bucket
 * gets a part of them (`defaultFileLimits`).
 */
const maxUploads = 64;

type OpenStores = Closeable<Stores & { readonly shared: readonly SharedStore[] }>;

/** Opens the stores from the settings. Throws SettingError if one cannot be used. */
export async function openStores(settings: Settings, deps: StoreDeps): Promise<OpenStores> {
  // The primary process has the lock for its workers.
  const lock = deps.worker === undefined ? await openDataFolder(settings) : undefined;
  try {
    const stores = await openAll(settings, deps);
    return { ...stores, close: () => stores.close().finally(() => lock?.release()) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function openAll(settings: Settings, deps: StoreDeps): Promise<OpenStores> {
  const secrets = settings.secrets.length > 0 ? settings.secrets : [await openOwnSecret(settings.dataFolder)];
  const seal = new Seal(secrets);
  const durable = await openDurable(settings, seal, deps);
  const ephemeral = await openEphemeral(settings, deps, durable).catch(async (error) => {
    await durable.close();
    throw error;
  });
  return {
    ...durable,
    ...ephemeral,
    shared: [...durable.shared, ...ephemeral.shared],
    seal,
    async close() {
      await ephemeral.close();
      await durable.close();
    },
  };
}

/** Limit counters in the node's database. */
interface CounterSource {
  readonly counters: CounterArchive;
  /** Resolves when the database is reachable. */
  readonly reached: Promise<void>;
  readonly shared: readonly SharedStore[];
}

async function openDurable(settings: Settings, seal: Seal, deps: StoreDeps): Promise<Closeable<DurableStores & CounterSource>> {
  const opened = await openDatabase(settings, { ...deps, acquireWriteLock: deps.worker?.acquireWriteLock });
  const { database, reached, shared } = opened;
  const { worker } = deps;
  const blobs = await openBlobs(settings).catch(async (error) => {
    await opened.close();
    throw error;
  });
  const replica = await openReplica(settings, deps);
  const applications = new SqlApplicationStore(database, seal, deps.caches);
  const index = new SqlFileIndex(database);
  const passages = new SqlPassageIndex(database);
  let isClosed = false;
  const reportResealError: StoreDeps['reportError'] = (message, error) => isClosed || deps.reportError(message, error);
  if (doesNodeTasks(worker)) void reached.then(() => reseal(database, seal, { note: deps.note, reportError: reportResealError }));
  const records = { database, index, leases: passages, reached, isShared: shared.length > 0 };
  const responses = new SqlResponseStore(database, seal);
  const contents = openContents(blobs, records, deps);
  const recordInvalid = (kind: string, id: string, error: unknown): void =>
    deps.reportError(`the stored ${kind} ${id} is invalid, so it is not used`, error);
  const journal = new SqlJournal(database, deps.clock.epochMs);
  const localOwner = worker === undefined || worker.slot === 1 ? thisNode : `${thisNode}, worker ${worker.slot}`;
  const owner = shared.length === 0 ? localOwner : randomUUID();
  const isShared = shared.length > 0 || worker !== undefined;
  return {
    counters: new SqlLimitCounters(database, owner),
    reached,
    consents: new SqlConsentStore(database, recordInvalid),
    applications,
    files: { index, blobs: new BoundedBlobStore(contents.blobs, maxUploads) },
    passages: { index: passages, owner },
    responses: { responses, conversations: new SqlConversationStore(database, seal), isShared },
    evaluations: { store: new SqlEvaluationStore(database, seal, recordInvalid), leases: responses.runs, isShared },
    chats: new SqlChatStore(
      database,
      seal,
      deps.caches.create('chat_texts', toChatTextBounds(getChatTextBytes(getProcessMemory()))),
    ),
    shares: new SqlShareStore(database, seal),
    keys: {
      store: new SqlKeyStore(database, recordInvalid),
      blockedUsers: new SqlBlockedUserStore(database),
      scim: new SqlScimStore(database, seal, recordInvalid),
      people: new SqlPeopleStore(database),
      isShared,
    },
    entries: { store: new SqlEntryStore(database, seal, recordInvalid), isShared },
    alerts: new SqlAlertStore(database),
    journal: replica === undefined ? journal : readFromReplica(journal, new SqlJournal(replica.database, deps.clock.epochMs)),
    callContents: new SqlCallContents(database, seal),
    nodes: shared.length > 0 ? new SqlNodeStore(database, recordInvalid) : undefined,
    shared,
    isWritable: opened.isWritable,
    areFilesElsewhere: contents.areElsewhere,
    async close() {
      isClosed = true;
      contents.stop();
      blobs.close();
      await replica?.close();
      await opened.close();
    },
  };
}

/** Returns a journal that reads usage, calls, and audit records from the replica, or from the database if the replica fails. */
function readFromReplica(journal: DurableStores['journal'], replica: Journal): DurableStores['journal'] {
  const queryReplica = async <Value>(query: (source: Journal) => Promise<Value>): Promise<Value> => {
    try {
      return await query(replica);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return query(journal);
    }
  };
  return {
    appendUsage: (records) => journal.appendUsage(records),
    appendAudit: (records) => journal.appendAudit(records),
    sumUsage: (query) => queryReplica((source) => source.sumUsage(query)),
    listCalls: (query) => queryReplica((source) => source.listCalls(query)),
    readAudit: (query) => queryReplica((source) => source.readAudit(query)),
    recordKeyUses: (uses) => journal.recordKeyUses(uses),
    readKeyUses: (ids) => journal.readKeyUses(ids),
    maintain: (options) => journal.maintain(options),
  };
}

/** Encrypts stored data with the newest secret in the background, so that the operator can remove an older secret. */
async function reseal(
  database: SqlDatabase,
  seal: Seal,
  { note, reportError }: Pick<StoreDeps, 'note' | 'reportError'>,
): Promise<void> {
  try {
    const count = await resealAll(database, seal);
    if (seal.hasOlderSecrets)
      note(`all stored data, except the content of calls, is encrypted with the newest secret: ${count} values changed`);
  } catch (error) {
    const message =
      error instanceof SealError
        ? 'cannot read all stored data with the secrets of PARLEY_SECRET: add the older secrets again and restart'
        : 'could not encrypt all stored data with the newest secret: the next start tries again';
    reportError(message, error);
  }
}

/** Opens the stores for short-lived data. The Redis client is loaded only if it is used. */
async function openEphemeral(
  { shared }: Settings,
  deps: StoreDeps,
  { counters, reached, shared: databases }: CounterSource,
): Promise<Closeable<EphemeralStores>> {
  if (shared.redisUrl !== undefined) {
    const { openRedisStores } = await import('./open-redis-stores.ts');
    return openRedisStores(shared.redisUrl, deps);
  }
  if (deps.worker !== undefined) {
    const { openWorkerStores } = await import('../workers/open-worker-stores.ts');
    return openWorkerStores(deps.worker, deps);
  }
  const perRequestKeys = new MemoryPerRequestKeys(createRandomSecret);
  const limits = new ArchivedLimitStore({ archive: counters, ...deps });
  const restored = reached.then(() => limits.restore());
  if (!databases.some(({ isUnavailable }) => isUnavailable())) await restored;
  return { perRequestKeys, limits, broadcast: undefined, shared: [], close: () => limits.close() };
}
