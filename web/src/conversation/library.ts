import { type Arrangement, arrangementOf, isSameArrangement, withArrangementOf } from './arrangement.ts';
import { type Conversation, settled } from './conversation.ts';
import { type Database, type Head, toHead } from './database.ts';
import type { Search, SearchedPlaces } from './deep-search.ts';
import { hasAll, wordsOf } from './head-words.ts';
import type { OtherTabs } from './other-tabs.ts';
import type { ServerSync } from './server-sync.ts';

const saveAfterMs = 400;

/** The user's conversations: the open ones in memory, all of them in the database. Views are told of each change. */
export class Library {
  readonly #database: Database;
  readonly #open = new Map<string, Conversation>();
  /** The form in which each was written last. */
  readonly #saved = new Map<string, Conversation>();
  readonly #unsaved = new Map<string, ReturnType<typeof setTimeout>>();
  /** Those that the database is at. */
  readonly #saving = new Set<string>();
  readonly #views = new Set<() => void>();
  /** Those that are about to be removed. */
  readonly #aside = new Set<string>();
  #heads: readonly Head[] = [];
  /** Without those that are set aside. */
  #listed: readonly Head[] = [];

  readonly #tabs: OtherTabs | undefined;
  #sync: ServerSync | undefined;
  #preparing: AbortController | undefined;

  constructor(database: Database, tabs?: OtherTabs) {
    this.#database = database;
    this.#tabs = tabs;
    tabs?.onChange((id) => void this.#takeIn(id));
  }

  /** From now on the service is told of what is written, and asked for what is not here. */
  follow(sync: ServerSync): void {
    this.#sync = sync;
  }

  /** Takes in what another device changed, and the database has. */
  async noteChange(id: string): Promise<void> {
    this.#tabs?.tell(id);
    await this.#takeIn(id);
  }

  async load(): Promise<void> {
    this.#heads = sorted(await this.#database.heads());
    this.#tell();
  }

  readonly subscribe = (view: () => void): (() => void) => {
    this.#views.add(view);
    return () => this.#views.delete(view);
  };

  /** The latest first. */
  readonly heads = (): readonly Head[] => this.#listed;

  /** One that is open. */
  readonly find = (id: string): Conversation | undefined => this.#open.get(id);

  /** Tells the conversations in which the words stand, here and on the service, with lines of what was said there. */
  async searchLong(query: string, search: Search): Promise<void> {
    // Searches of one user wait for each other; what was read for one is there for the next.
    this.#preparing?.abort();
    const { searchDeep } = await import('./deep-search.ts');
    await searchDeep(this.#places(), query, search);
  }

  /** Called when a search may begin soon. Without it the first one is slower. */
  prepareSearch(): void {
    if (this.#sync?.isFollowing !== true) return;
    this.#preparing = new AbortController();
    const { signal } = this.#preparing;
    import('./deep-search.ts').then(({ prepareSearch }) => prepareSearch(this.#places(), signal)).catch(() => undefined);
  }

  #places(): SearchedPlaces {
    return {
      heads: this.#heads,
      read: async (id) => this.#open.get(id) ?? this.#database.read(id).catch(() => undefined),
      list: async (query, signal) => this.#sync?.list(query, signal),
      listFound: (found) => this.#listFound(found),
    };
  }

  /** Lists what a search has found, and is not listed yet. */
  async #listFound(found: readonly Head[]): Promise<void> {
    const listed = new Set(this.#heads.map(({ id }) => id));
    if (found.every(({ id }) => listed.has(id))) return;
    const known = new Set((await this.#database.heads()).map(({ id }) => id));
    await this.#database.putHeads(found.filter(({ id }) => !known.has(id)));
    await this.load();
  }

  /** One with all its turns, without opening it. */
  async readWhole(id: string): Promise<Conversation | undefined> {
    const read = () => this.#database.read(id).catch(() => undefined);
    const here = this.#open.get(id) ?? (await read());
    if (here !== undefined) return here;
    await this.#sync?.fetch(id);
    return read();
  }

  /** Ids of all conversations, those that are not listed here as well. Throws ServiceFault. */
  async allIds(): Promise<readonly string[]> {
    await this.#sync?.learnAll();
    await this.load();
    return this.#heads.map(({ id }) => id);
  }

  /** Adds what a file has of a conversation to what is here, which stays as it is. It is shown and sent with `showTaken`. */
  async takeFromFile(imported: Conversation): Promise<'added' | 'merged' | 'same'> {
    const { id } = imported;
    const isKnown = this.#heads.some((head) => head.id === id);
    const stored = isKnown ? await this.readWhole(id) : await this.#database.read(id);
    if (stored === undefined) {
      await this.#database.write(imported);
      return 'added';
    }
    if (Object.keys(imported.turns).every((turn) => stored.turns[turn] !== undefined)) return 'same';
    const next = withTurnsBeside(stored, imported);
    if (this.#open.has(id)) this.put(next, 'now');
    else await this.#database.write(next, stored);
    return 'merged';
  }

  /** Shows what came out of a file, and sends it. */
  async showTaken(): Promise<void> {
    await this.load();
    this.#tabs?.tell('');
    this.#sync?.hurry();
  }

  /** Opens one; false where there is none of this id. */
  async open(id: string): Promise<boolean> {
    if (this.#open.has(id)) return true;
    const read = () => this.#database.read(id).catch(() => undefined);
    const kept = await read();
    if (kept === undefined) await this.#sync?.fetch(id);
    const stored = kept ?? (await read());
    if (stored !== undefined && !this.#open.has(id)) {
      this.#saved.set(id, stored);
      this.#open.set(id, settled(stored));
      this.#tell();
    }
    return this.#open.has(id);
  }

  /** Puts a conversation in the place of its last form. Saved soon; `now` where it must not be lost. */
  put(conversation: Conversation, when: 'soon' | 'now' = 'soon'): void {
    const { id } = conversation;
    const before = this.#open.get(id);
    this.#open.set(id, conversation);
    if (before?.updatedAtMs !== conversation.updatedAtMs || !isSameArrangement(before, conversation)) {
      this.#heads = sorted([toHead(conversation), ...this.#heads.filter((head) => head.id !== id)]);
    }
    if (when === 'now') this.#save(id);
    else if (!this.#unsaved.has(id))
      this.#unsaved.set(
        id,
        setTimeout(() => this.#save(id), saveAfterMs),
      );
    this.#tell();
  }

  /** Saves one, and has the service know all of it. Throws ServiceFault where that cannot be reached. */
  async bringUp(id: string): Promise<void> {
    if (this.#open.has(id)) this.#save(id);
    await this.#sync?.bringUp(id);
  }

  /** Changes one that is open. */
  change(id: string, toNext: (conversation: Conversation) => Conversation, when?: 'soon' | 'now'): void {
    const conversation = this.#open.get(id);
    if (conversation !== undefined) this.put(toNext(conversation), when);
  }

  /** Changes how one stands in the list, open or not. False where nothing is known of it but its head, and the service cannot be reached. */
  async arrange(id: string, arrangement: Partial<Arrangement>): Promise<boolean> {
    const toNext = (conversation: Conversation): Conversation => ({ ...conversation, ...arrangement });
    const stored = await this.readWhole(id);
    if (this.#open.has(id)) this.change(id, toNext, 'now');
    else if (stored === undefined) return false;
    else {
      const next = toNext(stored);
      await this.#database.write(next, stored);
      this.#heads = sorted([toHead(next), ...this.#heads.filter((head) => head.id !== id)]);
      this.#noteWritten(id);
      this.#tell();
    }
    return true;
  }

  /**
   * Lists one no more, until `remove` or `bringBack`. To delete at once and write it anew would not bring everything back: the
   * service drops its links and tells other devices that it is gone. Until it is removed nothing of it is touched anywhere; a
   * browser that dies meanwhile has it still, whole.
   */
  setAside(id: string): void {
    this.#aside.add(id);
    this.#tell();
  }

  bringBack(id: string): void {
    this.#aside.delete(id);
    this.#tell();
  }

  remove(id: string): void {
    this.#aside.delete(id);
    clearTimeout(this.#unsaved.get(id));
    this.#unsaved.delete(id);
    this.#open.delete(id);
    this.#saved.delete(id);
    this.#heads = this.#heads.filter((head) => head.id !== id);
    void this.#database.remove(id).then(
      () => this.#noteWritten(id),
      () => undefined,
    );
    this.#tell();
  }

  /** Removes all of them, on the service too. Throws ServiceFault where that cannot be reached. */
  async removeAll(): Promise<void> {
    await this.#sync?.removeAll();
    for (const timer of this.#unsaved.values()) clearTimeout(timer);
    this.#unsaved.clear();
    this.#open.clear();
    this.#saved.clear();
    await this.#database.clear();
    this.#tabs?.tell('');
    await this.load();
  }

  /** Saves what is not saved yet. */
  saveAll(): void {
    for (const id of [...this.#unsaved.keys()]) this.#save(id);
  }

  /** Saves what is not saved yet, removes what was set aside, and hears nothing of other tabs any more. */
  close(): void {
    for (const id of this.#aside) this.remove(id);
    this.saveAll();
    this.#tabs?.close();
  }

  #save(id: string): void {
    clearTimeout(this.#unsaved.get(id));
    this.#unsaved.delete(id);
    const conversation = this.#open.get(id);
    if (conversation === undefined) return;
    const before = this.#saved.get(id);
    this.#saved.set(id, conversation);
    this.#saving.add(id);
    this.#database
      .write(conversation, before)
      .then(
        () => this.#noteWritten(id),
        () => this.#saved.delete(id),
      )
      .finally(() => this.#saving.delete(id));
  }

  #noteWritten(id: string): void {
    this.#tabs?.tell(id);
    this.#sync?.noteWritten(id);
  }

  /** Another tab changed a conversation: what it has finished there is shown here too. */
  async #takeIn(id: string): Promise<void> {
    const [heads, stored] = await Promise.all([this.#database.heads(), this.#database.read(id)]).catch(() => [undefined]);
    if (heads === undefined) return;
    const isOwn = (head: { readonly id: string }): boolean => this.#unsaved.has(head.id) || this.#saving.has(head.id);
    this.#heads = sorted([...this.#heads.filter(isOwn), ...heads.filter((head) => !isOwn(head))]);
    const open = this.#open.get(id);
    if (open !== undefined && stored === undefined && !heads.some((head) => head.id === id) && !isOwn(open))
      this.#open.delete(id);
    if (open !== undefined && stored !== undefined) {
      const base = this.#saved.get(id);
      this.#open.set(id, withArrangementOf(withTurnsOf(open, stored), stored, base));
      if (base !== undefined) this.#saved.set(id, { ...base, ...arrangementOf(stored) });
    }
    this.#tell();
  }

  #tell(): void {
    this.#listed = this.#aside.size === 0 ? this.#heads : this.#heads.filter(({ id }) => !this.#aside.has(id));
    for (const view of this.#views) view();
  }
}

function sorted(heads: readonly Head[]): readonly Head[] {
  return [...heads].sort((one, other) => other.updatedAtMs - one.updatedAtMs);
}

/** The heads whose conversation has every word of the query. */
export function findHeads(heads: readonly Head[], query: string): readonly Head[] {
  const words = wordsOf(query);
  return words.length === 0 ? heads : heads.filter(({ said }) => hasAll(said, words));
}

/** A conversation with the turns of another that it has not. */
function withTurnsBeside(own: Conversation, other: Conversation): Conversation {
  const all = Object.values({ ...other.turns, ...own.turns }).sort((one, next) => one.atMs - next.atMs);
  const updatedAtMs = Math.max(own.updatedAtMs, other.updatedAtMs);
  return { ...own, updatedAtMs, turns: Object.fromEntries(all.map((turn) => [turn.id, turn])) };
}

/** A conversation with the turns that another tab has added and finished. */
function withTurnsOf(open: Conversation, stored: Conversation): Conversation {
  const added = Object.values(stored.turns).filter(
    (turn) => open.turns[turn.id] === undefined && !(turn.kind === 'reply' && turn.state === 'running'),
  );
  if (added.length === 0) return open;
  const shown = Object.fromEntries(added.map(({ parent, id }) => [parent, id]));
  return {
    ...open,
    updatedAtMs: stored.updatedAtMs,
    turns: { ...open.turns, ...Object.fromEntries(added.map((turn) => [turn.id, turn])) },
    shown: { ...open.shown, ...shown },
  };
}
