import type { Conversation, Turn } from './conversation.ts';

/** What the list of conversations needs of one. */
export interface Head {
  readonly id: string;
  readonly title: string;
  readonly deployment: string;
  readonly updatedAtMs: number;
  /** What was said, in lower case, for searching; of long conversations the beginning. */
  readonly said: string;
}

/** Where conversations are kept. */
export interface Database {
  heads(): Promise<readonly Head[]>;
  read(id: string): Promise<Conversation | undefined>;
  /** Writes what differs from `before`, its last form that was written; without it, everything. */
  write(conversation: Conversation, before?: Conversation): Promise<void>;
  remove(id: string): Promise<void>;
}

const mostSaidChars = 20_000;

/** Whether a head has all that was said. */
export function isWhole({ said }: Head): boolean {
  return said.length < mostSaidChars;
}

export function toHead({ id, title, deployment, updatedAtMs, turns }: Conversation): Head {
  let said = title;
  for (const { text } of Object.values(turns)) {
    if (said.length >= mostSaidChars) break;
    said += `\n${text}`;
  }
  return { id, title, deployment, updatedAtMs, said: said.slice(0, mostSaidChars).toLowerCase() };
}

const stores = ['heads', 'conversations', 'turns'] as const;
type Stores = Record<(typeof stores)[number], IDBObjectStore>;

/**
 * IndexedDB of this browser; each user has one. Turns are kept one by one: an answer that grows writes no more than itself, and two
 * tabs that go on with one conversation lose nothing of each other.
 */
export async function openDatabase(user: string): Promise<Database> {
  const opening = indexedDB.open(`parley ${user}`, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore('heads', { keyPath: 'id' });
    opening.result.createObjectStore('conversations', { keyPath: 'id' });
    opening.result.createObjectStore('turns', { keyPath: ['conversation', 'id'] });
  };
  const database = await done(opening);
  // Another tab that needs a newer form of the database must not wait for this one.
  database.onversionchange = () => database.close();
  const change = (act: (stores: Stores) => void): Promise<void> => {
    const transaction = database.transaction(stores, 'readwrite');
    act(Object.fromEntries(stores.map((name) => [name, transaction.objectStore(name)])) as Stores);
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
      change(({ heads, conversations, turns: kept }) => {
        const { turns, ...rest } = conversation;
        heads.put(toHead(conversation));
        conversations.put(rest);
        for (const turn of Object.values(turns))
          if (before?.turns[turn.id] !== turn) kept.put({ ...turn, conversation: rest.id });
      }),
    remove: (id) =>
      change(({ heads, conversations, turns }) => {
        heads.delete(id);
        conversations.delete(id);
        turns.delete(turnsOf(id));
      }),
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
  return { heads: async () => [], read: async () => undefined, write: async () => undefined, remove: async () => undefined };
}

function done<Value>(request: IDBRequest): Promise<Value>;
function done(request: IDBOpenDBRequest): Promise<IDBDatabase>;
function done(request: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
