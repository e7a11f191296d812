import { listTurnTexts } from '#contract/page/turn-texts.ts';
import { type Conversation, sortTurns, type Turn } from './conversation.ts';
import { getListAttributes } from './list-attributes.ts';
import type { SyncState } from './merge.ts';

/** Chat data for the list. */
export interface ConversationSummary
  extends Pick<Conversation, 'id' | 'title' | 'pinned' | 'archived' | 'tags' | 'deployment' | 'updatedAtMs'> {
  /** Searchable text: the texts and file names in lowercase. For a long chat, only the start. */
  readonly said: string;
}

/** A chat that was changed or removed here and is not synchronized yet. */
interface UnsentChange {
  readonly id: string;
  /** Changes with each change of the chat. */
  readonly stamp: string;
  readonly isRemoved?: boolean;
}

/** Storage of chats. */
export interface Database {
  listSummaries(): Promise<readonly ConversationSummary[]>;
  readConversation(id: string): Promise<Conversation | undefined>;
  /** Writes the difference to `before`, the last written version. Without `before`, writes everything. */
  write(conversation: Conversation, before?: Conversation): Promise<void>;
  remove(id: string): Promise<void>;
  /** Stores the summaries of chats whose other data is only at the service. */
  putSummaries(summaries: readonly ConversationSummary[]): Promise<void>;
  /** Writes a chat that is synchronized with the service. */
  putSynced(conversation: Conversation, state: SyncState): Promise<void>;
  /** Removes a chat that the service removed. */
  deleteLocal(id: string): Promise<void>;
  /** Lists the IDs of chats that are stored with more than their summary. */
  listStoredIds(): Promise<ReadonlySet<string>>;
  /** Marks all data of a chat as unsent. */
  markUnsent(id: string): Promise<void>;
  getSyncState(id: string): Promise<SyncState | undefined>;
  putSyncState(state: SyncState): Promise<void>;
  deleteSyncState(id: string): Promise<void>;
  listUnsent(): Promise<readonly UnsentChange[]>;
  findUnsent(id: string): Promise<UnsentChange | undefined>;
  /** Marks the change as sent, unless the chat changed in the meantime. */
  recordSent(entry: UnsentChange): Promise<void>;
  clear(): Promise<void>;
}

const maxTextChars = 20_000;

/** Whether the searchable text was stored without truncation. */
export function isUntruncated({ said }: Pick<ConversationSummary, 'said'>): boolean {
  return said.length < maxTextChars;
}

export function toSummary(conversation: Conversation): ConversationSummary {
  const { id, title, deployment, updatedAtMs, turns } = conversation;
  const { pinned, archived, tags } = getListAttributes(conversation);
  let searchText = [title, ...tags].join('\n');
  for (const turn of Object.values(turns)) {
    if (searchText.length >= maxTextChars) break;
    searchText += `\n${listTurnTexts(turn).join('\n')}`;
  }
  return { id, title, pinned, archived, tags, deployment, updatedAtMs, said: searchText.slice(0, maxTextChars).toLowerCase() };
}

const stores = ['heads', 'conversations', 'turns', 'marks', 'unsent'] as const;
type Stores = Record<(typeof stores)[number], IDBObjectStore>;

/**
 * IndexedDB of this browser, one database per user. Turns are stored individually: a growing answer writes only itself, and two
 * tabs that continue the same chat do not overwrite each other.
 */
export async function openDatabase(user: string): Promise<Database> {
  const opening = indexedDB.open(`parley ${user}`, 2);
  opening.onupgradeneeded = ({ oldVersion }) => {
    if (oldVersion < 1) {
      opening.result.createObjectStore('heads', { keyPath: 'id' });
      opening.result.createObjectStore('conversations', { keyPath: 'id' });
      opening.result.createObjectStore('turns', { keyPath: ['conversation', 'id'] });
    }
    opening.result.createObjectStore('marks', { keyPath: 'id' });
    opening.result.createObjectStore('unsent', { keyPath: 'id' });
    if (opening.transaction !== null && oldVersion === 1) markAllUnsent(opening.transaction);
  };
  const database = await toPromise(opening);
  // Another tab that upgrades the database must not wait for this one.
  database.onversionchange = () => database.close();
  const readStore = (name: keyof Stores): IDBObjectStore => database.transaction(name).objectStore(name);
  const runTransaction = (act: (stores: Stores) => void, commitsImmediately = false): Promise<void> => {
    const transaction = database.transaction(stores, 'readwrite');
    act(Object.fromEntries(stores.map((name) => [name, transaction.objectStore(name)])) as Stores);
    if (commitsImmediately) transaction.commit();
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
  };
  return {
    listSummaries: () => toPromise<ConversationSummary[]>(readStore('heads').getAll()),
    async readConversation(id) {
      const reading = database.transaction(['conversations', 'turns']);
      const [stored, turns] = await Promise.all([
        toPromise<Omit<Conversation, 'turns'> | undefined>(reading.objectStore('conversations').get(id)),
        toPromise<(Turn & { conversation?: string })[]>(reading.objectStore('turns').getAll(getTurnRange(id))),
      ]);
      return stored && { ...stored, turns: sortTurns(turns.map(({ conversation: _, ...turn }) => turn as Turn)) };
    },
    write: (conversation, before) =>
      runTransaction((all) => {
        putConversation(all, conversation, before);
        all.unsent.put({ id: conversation.id, stamp: crypto.randomUUID() });
      }),
    // This is also called while the page closes. Transactions that are not committed by then are lost.
    remove: (id) =>
      runTransaction((all) => {
        deleteConversation(all, id);
        all.unsent.put({ id, stamp: crypto.randomUUID(), isRemoved: true });
      }, true),
    putSummaries: (summaries) =>
      runTransaction(({ heads: summaryStore }) => {
        for (const summary of summaries) summaryStore.put(summary);
      }),
    putSynced: (conversation, state) =>
      runTransaction((all) => {
        putConversation(all, conversation);
        all.marks.put(state);
      }),
    deleteLocal: (id) =>
      runTransaction((all) => {
        deleteConversation(all, id);
        all.unsent.delete(id);
      }),
    listStoredIds: async () => new Set(await toPromise(readStore('conversations').getAllKeys() as IDBRequest<string[]>)),
    markUnsent: (id) =>
      runTransaction(({ marks, unsent }) => {
        marks.delete(id);
        unsent.put({ id, stamp: crypto.randomUUID() });
      }),
    getSyncState: (id) => toPromise<SyncState | undefined>(readStore('marks').get(id)),
    putSyncState: (state) => runTransaction(({ marks }) => marks.put(state)),
    deleteSyncState: (id) => runTransaction(({ marks }) => marks.delete(id)),
    listUnsent: () => toPromise<UnsentChange[]>(readStore('unsent').getAll()),
    findUnsent: (id) => toPromise<UnsentChange | undefined>(readStore('unsent').get(id)),
    recordSent: ({ id, stamp }) =>
      runTransaction(({ unsent }) => {
        const reading = unsent.get(id);
        reading.onsuccess = () => {
          if (reading.result?.stamp === stamp) unsent.delete(id);
        };
      }),
    clear: () =>
      runTransaction((all) => {
        for (const name of stores) all[name].clear();
      }),
  };
}

function putConversation(
  { heads: summaryStore, conversations, turns: storedTurns }: Stores,
  conversation: Conversation,
  before?: Conversation,
): void {
  const { turns, ...fields } = conversation;
  summaryStore.put(toSummary(conversation));
  conversations.put(fields);
  for (const turn of Object.values(turns))
    if (before?.turns[turn.id] !== turn) storedTurns.put({ ...turn, conversation: fields.id });
}

function deleteConversation({ heads: summaryStore, conversations, turns, marks }: Stores, id: string): void {
  summaryStore.delete(id);
  conversations.delete(id);
  turns.delete(getTurnRange(id));
  marks.delete(id);
}

/** Marks chats as unsent that were stored before the service could store chats. */
function markAllUnsent(upgrade: IDBTransaction): void {
  const keys = upgrade.objectStore('conversations').getAllKeys();
  keys.onsuccess = () => {
    for (const id of keys.result) upgrade.objectStore('unsent').put({ id, stamp: crypto.randomUUID() });
  };
}

function getTurnRange(conversationId: string): IDBKeyRange {
  return IDBKeyRange.bound([conversationId], [conversationId, []]);
}

/** Returns a database that stores nothing, for browsers that forbid storage and for chats that are not stored. */
export function createMemoryDatabase(): Database {
  const noOp = async () => undefined;
  return {
    listSummaries: async () => [],
    readConversation: noOp,
    write: noOp,
    remove: noOp,
    putSummaries: noOp,
    putSynced: noOp,
    deleteLocal: noOp,
    listStoredIds: async () => new Set<string>(),
    markUnsent: noOp,
    getSyncState: noOp,
    putSyncState: noOp,
    deleteSyncState: noOp,
    listUnsent: async () => [],
    findUnsent: noOp,
    recordSent: noOp,
    clear: noOp,
  };
}

function toPromise<Value>(request: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
