import { type Conversation, isRunning, type Reply, sortTurns, type Turn, withInterruptedReplies } from './conversation.ts';
import { type ConversationSummary, type Database, toSummary } from './database.ts';
import type { Search, SearchSources } from './deep-search.ts';
import { getListAttributes, hasSameListAttributes, type ListAttributes, mergeListAttributes } from './list-attributes.ts';
import type { OtherTabs } from './other-tabs.ts';
import type { ServerSync } from './server-sync.ts';
import { includesAll, splitWords } from './split-words.ts';

const saveAfterMs = 400;

type SaveTime = 'soon' | 'now' | 'unsaved';

/** Follows answers that the service continues without this page. */
interface RunFollower {
  /** Follows an answer, unless this page already does. */
  resume(conversationId: string, reply: Reply): void;
  /** Whether this page started an answer that is in progress. */
  hasStarted(replyId: string): boolean;
  /** Stops following an answer, because another page has stored its end. */
  stopFollowing(replyId: string): void;
}

/**
 * The user's chats. Open chats are in memory, and closed ones are in the database or only at the service. Notifies views of
 * changes.
 */
export class Library {
  readonly #database: Database;
  readonly #open = new Map<string, Conversation>();
  /** Last written version by ID. */
  readonly #saved = new Map<string, Conversation>();
  /** Timers of pending saves by ID. */
  readonly #saveTimers = new Map<string, ReturnType<typeof setTimeout>>();
  /** IDs of chats that are being written. */
  readonly #saving = new Set<string>();
  readonly #listeners = new Set<() => void>();
  /** IDs of chats that are about to be removed. */
  readonly #pendingRemovals = new Set<string>();
  #summaries: readonly ConversationSummary[] = [];
  /** Summaries without the chats that are pending removal. */
  #listed: readonly ConversationSummary[] = [];

  readonly #tabs: OtherTabs | undefined;
  #sync: ServerSync | undefined;
  #preparing: AbortController | undefined;
  #runs: RunFollower | undefined;

  constructor(database: Database, tabs?: OtherTabs) {
    this.#database = database;
    this.#tabs = tabs;
    tabs?.onChange((id) => void this.#reload(id));
  }

  /** Connects the library to the service, which then receives writes and provides missing chats. */
  connectService(sync: ServerSync): void {
    this.#sync = sync;
  }

  /** Sets the follower of answers that the service continues. Without it, they count as interrupted. */
  connectRuns(runs: RunFollower): void {
    this.#runs = runs;
  }

  /** Loads a change that another device made to a chat and that is already in the database. */
  async applyRemoteChange(id: string): Promise<void> {
    this.#tabs?.notify(id);
    await this.#reload(id);
  }

  async load(): Promise<void> {
    this.#summaries = sortByUpdate(await this.#database.listSummaries());
    this.#notify();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The latest first. */
  readonly getSummaries = (): readonly ConversationSummary[] => this.#listed;

  /** Returns an open chat. */
  readonly find = (id: string): Conversation | undefined => this.#open.get(id);

  /** Reports the chats that contain the words, here and at the service, with excerpts. */
  async searchText(query: string, search: Search): Promise<void> {
    // The service runs the searches of one user one after the other, so a pending preparation would delay this search, which
    // loads the same data.
    this.#preparing?.abort();
    const { searchDeep } = await import('./deep-search.ts');
    await searchDeep(this.#getSearchSources(), query, search);
  }

  /** Prepares a search that may start soon. Without it, the first search is slower. */
  prepareSearch(): void {
    if (this.#sync?.isActive !== true) return;
    this.#preparing = new AbortController();
    const { signal } = this.#preparing;
    import('./deep-search.ts')
      .then(({ prepareSearch }) => prepareSearch(this.#getSearchSources(), signal))
      .catch(() => undefined);
  }

  #getSearchSources(): SearchSources {
    return {
      summaries: this.#summaries,
      readConversation: async (id) => this.#open.get(id) ?? this.#database.readConversation(id).catch(() => undefined),
      list: async (query, signal) => this.#sync?.list(query, signal),
      addMatches: (matches) => this.#addMatches(matches),
    };
  }

  /** Adds search results that are not listed yet. */
  async #addMatches(matches: readonly ConversationSummary[]): Promise<void> {
    const listedIds = new Set(this.#summaries.map(({ id }) => id));
    if (matches.every(({ id }) => listedIds.has(id))) return;
    const knownIds = new Set((await this.#database.listSummaries()).map(({ id }) => id));
    await this.#database.putSummaries(matches.filter(({ id }) => !knownIds.has(id)));
    await this.load();
  }

  /** Returns a chat with all turns without opening it. */
  async readFull(id: string): Promise<Conversation | undefined> {
    const readStored = () => this.#database.readConversation(id).catch(() => undefined);
    const local = this.#open.get(id) ?? (await readStored());
    if (local !== undefined) return local;
    await this.#sync?.fetch(id);
    return readStored();
  }

  /** Returns the IDs of all chats, including those that this browser does not list. Throws `ServiceError`. */
  async listAllIds(): Promise<readonly string[]> {
    await this.#sync?.fetchSummaries();
    await this.load();
    return this.#summaries.map(({ id }) => id);
  }

  /** Stores an imported chat. If the chat exists, only adds the missing turns. `showImported` then lists and sends it. */
  async importConversation(imported: Conversation): Promise<'added' | 'merged' | 'same'> {
    const { id } = imported;
    const isKnown = this.#summaries.some((summary) => summary.id === id);
    const stored = isKnown ? await this.readFull(id) : await this.#database.readConversation(id);
    if (stored === undefined) {
      await this.#database.write(imported);
      return 'added';
    }
    if (Object.keys(imported.turns).every((turn) => stored.turns[turn] !== undefined)) return 'same';
    const next = mergeTurns(stored, imported);
    if (this.#open.has(id)) this.put(next, 'now');
    else await this.#database.write(next, stored);
    return 'merged';
  }

  /** Lists and sends imported chats. */
  async showImported(): Promise<void> {
    await this.load();
    this.#tabs?.notify('');
    this.#sync?.syncNow();
  }

  /** Opens a chat. Returns false if it does not exist. */
  async open(id: string): Promise<boolean> {
    if (this.#open.has(id)) return true;
    const stored = await this.readFull(id);
    if (stored !== undefined && !this.#open.has(id)) {
      this.#saved.set(id, stored);
      this.#open.set(id, withInterruptedReplies(stored, this.#runs !== undefined));
      this.#notify();
      this.#resumeRuns(id);
    }
    return this.#open.has(id);
  }

  /** Loads all of a chat from the service again, if the service can be reached. */
  async refetch(id: string): Promise<void> {
    await this.#sync?.refetch(id);
    await this.#reload(id);
  }

  /** Replaces a chat. `soon` saves it after a short delay, `now` saves it immediately, and `unsaved` leaves it to a later save. */
  put(conversation: Conversation, when: SaveTime = 'soon'): void {
    const { id } = conversation;
    const before = this.#open.get(id);
    this.#open.set(id, conversation);
    if (before?.updatedAtMs !== conversation.updatedAtMs || !hasSameListAttributes(before, conversation)) {
      this.#updateSummary(conversation);
    }
    if (when === 'now') this.#save(id);
    else if (when === 'soon' && !this.#saveTimers.has(id))
      this.#saveTimers.set(
        id,
        setTimeout(() => this.#save(id), saveAfterMs),
      );
    this.#notify();
  }

  /** Saves a chat and sends all of it to the service. Throws like `ServerSync.sendNow`. */
  async sync(id: string): Promise<void> {
    if (this.#open.has(id)) this.#save(id);
    await this.#sync?.sendNow(id);
  }

  /** Changes an open chat. */
  change(id: string, toNext: (conversation: Conversation) => Conversation, when?: SaveTime): void {
    const conversation = this.#open.get(id);
    if (conversation !== undefined) this.put(toNext(conversation), when);
  }

  /**
   * Changes the list attributes of a chat, open or not. Returns false if only its summary is stored and the service cannot be
   * reached.
   */
  async updateListAttributes(id: string, attributes: Partial<ListAttributes>): Promise<boolean> {
    const toNext = (conversation: Conversation): Conversation => ({ ...conversation, ...attributes });
    const stored = await this.readFull(id);
    if (this.#open.has(id)) this.change(id, toNext, 'now');
    else if (stored === undefined) return false;
    else {
      const next = toNext(stored);
      await this.#database.write(next, stored);
      this.#updateSummary(next);
      this.#onWritten(id);
      this.#notify();
    }
    return true;
  }

  /**
   * Hides a chat from the list until `remove` or `restore`. Only `remove` deletes data, because a deletion cannot be undone: the
   * service drops the links of the chat and notifies other devices. A browser crash before that leaves the chat complete.
   */
  hide(id: string): void {
    this.#pendingRemovals.add(id);
    this.#notify();
  }

  restore(id: string): void {
    this.#pendingRemovals.delete(id);
    this.#notify();
  }

  remove(id: string): void {
    this.#pendingRemovals.delete(id);
    clearTimeout(this.#saveTimers.get(id));
    this.#saveTimers.delete(id);
    this.#open.delete(id);
    this.#saved.delete(id);
    this.#summaries = this.#summaries.filter((summary) => summary.id !== id);
    void this.#database.remove(id).then(
      () => this.#onWritten(id),
      () => undefined,
    );
    this.#notify();
  }

  /** Removes all chats, also from the service. Throws `ServiceError` if the service cannot be reached. */
  async removeAll(): Promise<void> {
    await this.#sync?.removeAll();
    for (const timer of this.#saveTimers.values()) clearTimeout(timer);
    this.#saveTimers.clear();
    this.#open.clear();
    this.#saved.clear();
    await this.#database.clear();
    this.#tabs?.notify('');
    await this.load();
  }

  saveAll(): void {
    for (const id of [...this.#saveTimers.keys()]) this.#save(id);
  }

  /** Saves unsaved changes, removes hidden chats, and disconnects from other tabs. */
  close(): void {
    for (const id of this.#pendingRemovals) this.remove(id);
    this.saveAll();
    this.#tabs?.close();
  }

  #updateSummary(conversation: Conversation): void {
    const others = this.#summaries.filter(({ id }) => id !== conversation.id);
    this.#summaries = sortByUpdate([toSummary(conversation), ...others]);
  }

  #save(id: string): void {
    clearTimeout(this.#saveTimers.get(id));
    this.#saveTimers.delete(id);
    const conversation = this.#open.get(id);
    if (conversation === undefined) return;
    const before = this.#saved.get(id);
    this.#saved.set(id, conversation);
    this.#saving.add(id);
    this.#database
      .write(conversation, before)
      .then(
        () => this.#onWritten(id),
        () => this.#saved.delete(id),
      )
      .finally(() => this.#saving.delete(id));
  }

  #onWritten(id: string): void {
    this.#tabs?.notify(id);
    this.#sync?.scheduleSend(id);
  }

  /** Loads the changes that another tab or device has stored in the database. */
  async #reload(id: string): Promise<void> {
    const [summaries, stored] = await Promise.all([this.#database.listSummaries(), this.#database.readConversation(id)]).catch(
      () => [undefined],
    );
    if (summaries === undefined) return;
    const isPending = (summary: { readonly id: string }): boolean =>
      this.#saveTimers.has(summary.id) || this.#saving.has(summary.id);
    this.#summaries = sortByUpdate([...this.#summaries.filter(isPending), ...summaries.filter((summary) => !isPending(summary))]);
    const open = this.#open.get(id);
    if (open !== undefined && stored === undefined && !summaries.some((summary) => summary.id === id) && !isPending(open))
      this.#open.delete(id);
    if (open !== undefined && stored !== undefined) {
      const base = this.#saved.get(id);
      const changedTurns = listOtherTabTurns(open, stored, this.#runs);
      this.#open.set(id, mergeListAttributes(withChangedTurns(open, stored, changedTurns), stored, base));
      for (const turn of changedTurns) if (!isRunning(turn)) this.#runs?.stopFollowing(turn.id);
      this.#resumeRuns(id);
      if (base !== undefined) this.#saved.set(id, { ...base, ...getListAttributes(stored) });
    }
    this.#notify();
  }

  #resumeRuns(id: string): void {
    const runningReplies = Object.values(this.#open.get(id)?.turns ?? {}).filter(isRunning);
    for (const reply of runningReplies) if (reply.isRun === true) this.#runs?.resume(id, reply);
  }

  #notify(): void {
    this.#listed =
      this.#pendingRemovals.size === 0 ? this.#summaries : this.#summaries.filter(({ id }) => !this.#pendingRemovals.has(id));
    for (const listener of this.#listeners) listener();
  }
}

function sortByUpdate(summaries: readonly ConversationSummary[]): readonly ConversationSummary[] {
  return [...summaries].sort((left, right) => right.updatedAtMs - left.updatedAtMs);
}

/** Returns the summaries whose searchable text contains every word of the query. A query without words matches all. */
export function findSummaries(summaries: readonly ConversationSummary[], query: string): readonly ConversationSummary[] {
  const words = splitWords(query);
  return words.length === 0 ? summaries : summaries.filter(({ said }) => includesAll(said, words));
}

/** Adds the turns of an imported chat that the local chat lacks. */
function mergeTurns(local: Conversation, imported: Conversation): Conversation {
  const updatedAtMs = Math.max(local.updatedAtMs, imported.updatedAtMs);
  return { ...local, updatedAtMs, turns: sortTurns(Object.values({ ...imported.turns, ...local.turns })) };
}

/**
 * Lists the stored turns to adopt: new ones that are complete or that the service continues, and answers that are incomplete only
 * here and that this tab did not start.
 */
function listOtherTabTurns(open: Conversation, stored: Conversation, runs: RunFollower | undefined): readonly Turn[] {
  return Object.values(stored.turns).filter((turn) => {
    const openTurn = open.turns[turn.id];
    if (openTurn === undefined) return !isRunning(turn) || (runs !== undefined && turn.isRun === true);
    return isIncomplete(openTurn) && !isIncomplete(turn) && runs?.hasStarted(turn.id) !== true;
  });
}

/** Adds or replaces turns that another tab changed, and shows the added ones. */
function withChangedTurns(open: Conversation, stored: Conversation, changed: readonly Turn[]): Conversation {
  if (changed.length === 0) return open;
  const added = changed.filter(({ id }) => open.turns[id] === undefined);
  return {
    ...open,
    updatedAtMs: stored.updatedAtMs,
    turns: { ...open.turns, ...Object.fromEntries(changed.map((turn) => [turn.id, turn])) },
    shown: { ...open.shown, ...Object.fromEntries(added.map(({ parent, id }) => [parent, id])) },
  };
}

/** Whether another device may have more of an answer. */
function isIncomplete(turn: Turn): boolean {
  return turn.kind === 'reply' && (turn.state === 'running' || turn.isLost === true);
}
