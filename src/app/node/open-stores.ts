import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { CounterArchive } from '#domain/limits/limit-store.ts';
import { BoundedBlobStore } from '#stores/files/bounded-blob-store.ts';
import { type FolderLock, lockFolder } from '#stores/files/folder-lock.ts';
import { ArchivedLimitStore } from '#stores/memory/archived-limit-store.ts';
import { MemoryPerRequestKeys } from '#stores/memory/per-request-keys.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlChatStore } from '#stores/sql/chats/chat-store.ts';
import { toChatTextBounds } from '#stores/sql/chats/chat-texts.ts';
import { SqlShareStore } from '#stores/sql/chats/share-store.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluations/evaluation-store.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { SqlJournal } from '#stores/sql/journal/journal.ts';
import { SqlBlockedUserStore } from '#stores/sql/keys/blocked-user-store.ts';
import { SqlKeyStore } from '#stores/sql/keys/key-store.ts';
import { SqlLimitCounters } from '#stores/sql/limits/limit-counters.ts';
import { SqlPassageIndex } from '#stores/sql/passages/passage-index.ts';
import { SqlConversationStore } from '#stores/sql/responses/conversation-store.ts';
import { SqlResponseStore } from '#stores/sql/responses/response-store.ts';
import { getChatTextBytes, getProcessMemory } from '../process/memory-shares.ts';
import { SettingError, type Settings } from '../settings.ts';
import { openBlobs, openContents } from './open-contents.ts';
import { getReason, openDatabase } from './open-database.ts';
import type { DurableStores, Opened, PassingStores, SharedStore, StoreDeps } from './stores.ts';

/** Stores of a node. */
export interface Stores extends Omit<DurableStores, 'shared'>, Omit<PassingStores, 'shared'> {
  /** Encrypts stored data and signs data that clients store. */
  readonly seal: Seal;
}

const keyBytes = 32;
/**
 * Maximum number of concurrent uploads. Each uses up to 10 MiB of memory, and disk space before its size is known. One bucket
 * gets a part of them (`defaultFileLimits`).
 */
const maxUploads = 64;

/** Opens the stores from the settings. Throws SettingError if one cannot be used. */
export async function openStores(
  settings: Settings,
  baseDeps: Omit<StoreDeps, 'newKey'>,
): Promise<Opened<Stores & { readonly shared: readonly SharedStore[] }>> {
  const tools = { ...baseDeps, newKey: () => randomBytes(keyBytes).toString('base64url') };
  const lock = await openDataFolder(settings);
  try {
    const stores = await openAll(settings, tools);
    return { ...stores, close: () => stores.close().finally(() => lock?.release()) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

async function openAll(
  settings: Settings,
  tools: StoreDeps,
): Promise<Opened<Stores & { readonly shared: readonly SharedStore[] }>> {
  const secrets = settings.secrets.length > 0 ? settings.secrets : [await openOwnSecret(settings.dataFolder)];
  const seal = new Seal(secrets);
  const durable = await openDurable(settings, seal, tools);
  const passing = await openPassing(settings, tools, durable).catch(async (error) => {
    await durable.close();
    throw error;
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

/** Limit counters in the node's database. */
interface CounterSource {
  readonly counters: CounterArchive;
  /** Resolves when the database is reachable. */
  readonly reached: Promise<void>;
  readonly shared: readonly SharedStore[];
}

async function openDurable(settings: Settings, seal: Seal, tools: StoreDeps): Promise<Opened<DurableStores & CounterSource>> {
  const { database, reached, shared, isWritable, close: closeDatabase } = await openDatabase(settings, tools);
  const opened = await openBlobs(settings).catch(async (error) => {
    await closeDatabase();
    throw error;
  });
  const applications = new SqlApplicationStore(database, seal, tools.caches);
  const index = new SqlFileIndex(database);
  const passages = new SqlPassageIndex(database);
  void reached.then(() => resealApplications(applications, tools));
  const records = { database, index, leases: passages, reached, isShared: shared.length > 0 };
  const responses = new SqlResponseStore(database, seal);
  const contents = openContents(opened, records, tools);
  const recordInvalid = (kind: string, id: string, error: unknown): void =>
    tools.reportError(`the stored ${kind} ${id} is invalid, so it is not used`, error);
  const owner = shared.length === 0 ? 'this node' : randomUUID();
  return {
    counters: new SqlLimitCounters(database, owner),
    reached,
    consents: new SqlConsentStore(database, recordInvalid),
    applications,
    files: { index, blobs: new BoundedBlobStore(contents.blobs, maxUploads) },
    passages: { index: passages, owner },
    responses: {
      responses,
      conversations: new SqlConversationStore(database, seal),
      isShared: shared.length > 0,
    },
    evaluations: {
      store: new SqlEvaluationStore(database, seal, recordInvalid),
      leases: responses.runs,
      isShared: shared.length > 0,
    },
    chats: new SqlChatStore(
      database,
      seal,
      tools.caches.create('chat_texts', toChatTextBounds(getChatTextBytes(getProcessMemory()))),
    ),
    shares: new SqlShareStore(database, seal),
    keys: {
      store: new SqlKeyStore(database, recordInvalid),
      blockedUsers: new SqlBlockedUserStore(database),
      isShared: shared.length > 0,
    },
    journal: new SqlJournal(database),
    shared,
    isWritable,
    areFilesElsewhere: contents.areElsewhere,
    async close() {
      contents.stop();
      opened.close();
      await closeDatabase();
    },
  };
}

/**
 * Seals applications with the newest secret in the background, so that the operator can remove an older secret. Until then, the
 * older secret is still needed.
 */
async function resealApplications(applications: SqlApplicationStore, { note, reportError }: StoreDeps): Promise<void> {
  try {
    const count = await applications.resealAll();
    if (count > 0) note(`sealed ${count} applications with the newest secret, which no longer need older secrets`);
  } catch (error) {
    reportError('cannot seal all applications with the newest secret: keep the older secrets and restart', error);
  }
}

/** Opens the stores for short-lived data. The Redis client is loaded only if it is used. */
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
  if (!databases.some(({ isUnavailable }) => isUnavailable())) await restored;
  return { perRequestKeys, limits, broadcast: undefined, shared: [], close: () => limits.close() };
}

/**
 * Locks the data folder, and creates it if it does not exist. Returns undefined if all state is stored elsewhere. Throws
 * SettingError.
 */
export async function openDataFolder({ dataFolder, secrets, shared }: Settings): Promise<FolderLock | undefined> {
  if (secrets.length > 0 && shared.databaseUrl !== undefined && shared.files !== undefined) return undefined;
  const folder = resolve(dataFolder);
  const lock = await takeFolder(folder).catch((error) => {
    throw new SettingError(
      `the data folder ${folder} cannot be used: ${describeError(error)}. Set another one with ${alternatives}`,
    );
  });
  if (lock !== undefined) return lock;
  throw new SettingError(
    `the data folder ${folder} is in use by another Parley. Stop that process, or set another folder with ${alternatives}`,
  );
}

const alternatives = '--data or PARLEY_DATA';

async function takeFolder(folder: string): Promise<FolderLock | undefined> {
  await makeFolder(folder);
  await (await open(join(folder, 'lock'), 'a', 0o600)).close();
  return lockFolder(folder);
}

/** Creates a folder step by step. Node's recursive mkdir never ends in system folders in which nothing can be created. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const code = getCode(error);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 });
  }
}

function getCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

const errorTexts: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'this user has no write permission there'],
  ['EPERM', 'this user has no write permission there'],
  ['EROFS', 'it is read-only'],
  ['ENOSPC', 'there is no space left'],
  ['EDQUOT', 'there is no space left for this user'],
  ['ENOTDIR', 'it is not a folder'],
  ['ENOENT', 'a folder cannot be created there'],
]);

function describeError(error: unknown): string {
  return errorTexts.get(getCode(error)) ?? getReason(error);
}

const secretBytes = 32;

/**
 * Returns the secret of a node without PARLEY_SECRET. Creates it once in the data folder, so that sealed data can be opened after
 * a restart. Throws SettingError.
 */
export async function openOwnSecret(dataFolder: string): Promise<Secret> {
  const file = join(dataFolder, 'secret');
  const text = await (async () => (await readSecret(file)) ?? (await createSecret(file)))().catch((error) => {
    throw new SettingError(`${file} cannot be used: ${getReason(error)}`);
  });
  if (text.trim() !== '') return new Secret(text.trim());
  throw new SettingError(`${file} is empty. Restore it from a backup, or delete it if no data is stored yet`);
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** Creates the secret under a temporary name first, so that a crash never leaves a partial secret. */
async function createSecret(file: string): Promise<string> {
  const secret = randomBytes(secretBytes).toString('base64url');
  const part = `${file}.part`;
  await rm(part, { force: true });
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.writeFile(secret);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, file);
  return secret;
}
