import { arrangementOf } from './arrangement.ts';
import type { Conversation, Turn } from './conversation.ts';
import type { SyncMark } from './merge.ts';

/** What the list of conversations needs of one. */
export interface Head {
  readonly id: string;
  readonly title: string;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly tags?: readonly string[];
  readonly deployment: string;
  readonly updatedAtMs: number;
  /** What was said, in lower case, for searching; of long conversations the beginning. */
  readonly said: string;
}

/** A conversation that was changed or removed here, and the service was not told yet. */
interface Unsent {
  readonly id: string;
  /** Another with each change. */
  readonly stamp: string;
  readonly isRemoved?: boolean;
}

/** Where conversations are kept. */
export interface Database {
  heads(): Promise<readonly Head[]>;
  read(id: string): Promise<Conversation | undefined>;
  /** Writes what differs from `before`, its last form that was written; without it, everything. */
  write(conversation: Conversation, before?: Conversation): Promise<void>;
  remove(id: string): Promise<void>;
  /** Heads of conversations that the service has, and that are not kept here yet. */
  putHeads(heads: readonly Head[]): Promise<void>;
  /** Writes what the service has too. */
  take(conversation: Conversation, mark: SyncMark): Promise<void>;
  /** Removes what the service has removed. */
  forget(id: string): Promise<void>;
  /** Those of which more than the head is kept here. */
  keptIds(): Promise<ReadonlySet<string>>;
  /** Has everything of it sent again. */
  revive(id: string): Promise<void>;
  mark(id: string): Promise<SyncMark | undefined>;
  putMark(mark: SyncMark): Promise<void>;
  dropMark(id: string): Promise<void>;
  unsent(): Promise<readonly Unsent[]>;
  unsentOf(id: string): Promise<Unsent | undefined>;
  /** The service has it now, unless it changed meanwhile. */
  sent(entry: Unsent): Promise<void>;
  /** Removes everything. */
  clear(): Promise<void>;
}

const mostSaidChars = 20_000;

/** Whether a head has all that was said. */
export function isWhole({ said }: Pick<Head, 'said'>): boolean {
  return said.length < mostSaidChars;
}

export function toHead(conversation: Conversation): Head {
  const { id, title, deployment, updatedAtMs, turns } = conversation;
  const { pinned, archived, tags } = arrangementOf(conversation);
  let said = [title, ...tags].join('\n');
  for (const { text } of Object.values(turns)) {
    if (said.length >= mostSaidChars) break;
    said += `\n${text}`;
  }
  return { id, title, pinned, archived, tags, deployment, updatedAtMs, said: said.slice(0, mostSaidChars).toLowerCase() };
}

const stores = ['heads', 'conversations', 'turns', 'marks', 'unsent'] as const;
type Stores = Record<(typeof stores)[number], IDBObjectStore>;

/**
 * IndexedDB of this browser; each user has one. Turns are kept one by one: an answer that grows writes no more than itself, and two
 * tabs that go on with one conversation lose nothing of each other.
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
  const database = await done(opening);
  // Another tab that needs a newer form of the database must not wait for this one.
  database.onversionchange = () => database.close();
  const change = (act: (stores: Stores) => void, isLast = false): Promise<void> => {
    const transaction = database.transaction(stores, 'readwrite');
    act(Object.fromEntries(stores.map((name) => [name, transaction.objectStore(name)])) as Stores);
    if (isLast) transaction.commit();
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
  };
  return {
    heads: () => done<Head[]>(database.transaction('heads').objectStore('heads').getAll()),
    async read(id) {
      const reading = database.transaction(['conversations', 'turns']);
      const [kept, turns] = await Promise.all([
        done<Omit<Conversation, 'turns'> | undefined>(reading.objectStore('conversations').get(id)),
        done<(Turn & { conversation?: string })[]>(reading.objectStore('turns').getAll(turnsOf(id))),
      ]);
      return kept && { ...kept, turns: toTurns(turns) };
    },
    write: (conversation, before) =>
      change((all) => {
        put(all, conversation, before);
        all.unsent.put({ id: conversation.id, stamp: crypto.randomUUID() });
      }),
    // Called while the page is being left too: what is not committed by then is lost with it.
    remove: (id) =>
      change((all) => {
        drop(all, id);
        all.unsent.put({ id, stamp: crypto.randomUUID(), isRemoved: true });
      }, true),
    putHeads: (listed) =>
      change(({ heads }) => {
        for (const head of listed) heads.put(head);
      }),
    take: (conversation, mark) =>
      change((all) => {
        put(all, conversation);
        all.marks.put(mark);
      }),
    forget: (id) =>
      change((all) => {
        drop(all, id);
        all.unsent.delete(id);
      }),
    keptIds: async () =>
      new Set(
        await done<string[]>(database.transaction('conversations').objectStore('conversations').getAllKeys() as IDBRequest),
      ),
    revive: (id) =>
      change(({ marks, unsent }) => {
        marks.delete(id);
        unsent.put({ id, stamp: crypto.randomUUID() });
      }),
    mark: (id) => done<SyncMark | undefined>(database.transaction('marks').objectStore('marks').get(id)),
    putMark: (mark) => change(({ marks }) => marks.put(mark)),
    dropMark: (id) => change(({ marks }) => marks.delete(id)),
    unsent: () => done<Unsent[]>(database.transaction('unsent').objectStore('unsent').getAll()),
    unsentOf: (id) => done<Unsent | undefined>(database.transaction('unsent').objectStore('unsent').get(id)),
    sent: ({ id, stamp }) =>
      change(({ unsent }) => {
        const reading = unsent.get(id);
        reading.onsuccess = () => {
          if (reading.result?.stamp === stamp) unsent.delete(id);
        };
      }),
    clear: () =>
      change((all) => {
        for (const name of stores) all[name].clear();
      }),
  };
}

function put({ heads, conversations, turns: kept }: Stores, conversation: Conversation, before?: Conversation): void {
  const { turns, ...rest } = conversation;
  heads.put(toHead(conversation));
  conversations.put(rest);
  for (const turn of Object.values(turns)) if (before?.turns[turn.id] !== turn) kept.put({ ...turn, conversation: rest.id });
}

function drop({ heads, conversations, turns, marks }: Stores, id: string): void {
  heads.delete(id);
  conversations.delete(id);
  turns.delete(turnsOf(id));
  marks.delete(id);
}

/** What was kept before the service kept anything is brought there. */
function markAllUnsent(upgrade: IDBTransaction): void {
  const keys = upgrade.objectStore('conversations').getAllKeys();
  keys.onsuccess = () => {
    for (const id of keys.result) upgrade.objectStore('unsent').put({ id, stamp: crypto.randomUUID() });
  };
}

function turnsOf(conversation: string): IDBKeyRange {
  return IDBKeyRange.bound([conversation], [conversation, []]);
}

/** In the order they were made. */
function toTurns(kept: readonly (Turn & { conversation?: string })[]): Conversation['turns'] {
  const turns = kept.map(({ conversation: _, ...turn }) => turn as Turn).sort((one, other) => one.atMs - other.atMs);
  return Object.fromEntries(turns.map((turn) => [turn.id, turn]));
}

/** Keeps nothing: for browsers that do not let the page keep anything. */
export function forgetfulDatabase(): Database {
  const nothing = async () => undefined;
  return {
    ...{
      heads: async () => [],
      read: nothing,
      write: nothing,
      remove: nothing,
      unsent: async () => [],
      unsentOf: nothing,
      mark: nothing,
      keptIds: async () => new Set<string>(),
    },
    ...{
      putHeads: nothing,
      take: nothing,
      revive: nothing,
      forget: nothing,
      putMark: nothing,
      dropMark: nothing,
      sent: nothing,
      clear: nothing,
    },
  };
}

function done<Value>(request: IDBRequest): Promise<Value>;
function done(request: IDBOpenDBRequest): Promise<IDBDatabase>;
function done(request: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
