import type { ChatPage, Chats, RemoteChatSummary } from '../service/chats.ts';
import { toErrorDetails } from '../service/service-error.ts';
import type { Turn } from './conversation.ts';
import type { ConversationSummary, Database } from './database.ts';
import { getListAttributes, type ListAttributes } from './list-attributes.ts';
import {
  addSyncedTurns,
  areFieldsUnsent,
  fromChat,
  getSharedFields,
  listUnsentTurns,
  mergeConversations,
  type SyncState,
} from './merge.ts';

interface SyncOptions {
  readonly chats: Chats;
  readonly database: Database;
  /** Called after the database contains a change from elsewhere. A change of many chats is reported with the ID of one of them. */
  readonly onChange: (id: string) => void;
}

const pollIntervalMs = 4000;
const sendAfterMs = 500;
const initialPages = 20;
const maxAttempts = 5;
const maxTurnsPerRequest = 200;
const maxCharsPerRequest = 4_000_000;
const closeTimeoutMs = 3000;
/** Key of the sync state of the chat list, which contains the last processed revision. */
const listStateId = '';

/**
 * Synchronizes the database of this browser with the service. Changes are written to the database first, and wait there until
 * they are sent. A complete turn never changes, so concurrent writes of two devices are merged by adding their turns.
 */
export class ServerSync {
  readonly #options: SyncOptions;
  readonly #scheduled = new Map<string, ReturnType<typeof setTimeout>>();
  /** Chats that the service rejected, until they change. */
  readonly #rejected = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: 'following' | 'off' | 'closed' = 'following';

  constructor(options: SyncOptions) {
    this.#options = options;
  }

  /** Whether chats are synchronized: true until the service turns out to store no chats, or until `close` is called. */
  get isActive(): boolean {
    return this.#state === 'following';
  }

  /**
   * Synchronizes both sides and then follows changes. Resolves after the first round, even if the service could not be reached.
   */
  async start(): Promise<void> {
    await this.#round();
  }

  /** Synchronizes now if the page is visible. */
  readonly syncNow = (): void => {
    if (document.hidden || this.#state !== 'following') return;
    clearTimeout(this.#timer);
    void this.#round();
  };

  /** Schedules sending of a changed chat. */
  scheduleSend(id: string): void {
    this.#rejected.delete(id);
    clearTimeout(this.#scheduled.get(id));
    if (this.#state !== 'following') return;
    this.#scheduled.set(
      id,
      setTimeout(() => {
        this.#scheduled.delete(id);
        void this.#enqueue(() => this.#send(id)).catch(() => undefined);
      }, sendAfterMs),
    );
  }

  /**
   * Sends all unsent parts of a chat, unless the service stores no chats. Throws if the service cannot be reached, fails, or
   * returns 401, 404, or 429, and after too many concurrent writes. A chat that is rejected with another 4xx status stays unsent
   * without an error.
   */
  async sendNow(id: string): Promise<void> {
    if (this.#state !== 'off') await this.#enqueue(() => this.#send(id));
  }

  /** Loads a chat that the database lists without its turns. */
  async fetch(id: string): Promise<void> {
    if (this.#state !== 'following') return;
    await this.#enqueue(() => this.#pull(id)).catch(() => undefined);
  }

  /** Loads all turns of a chat again. */
  async refetch(id: string): Promise<void> {
    if (this.#state !== 'following') return;
    await this.#enqueue(() => this.#pull(id, 'all')).catch(() => undefined);
  }

  /** Adds the summaries of all chats that the database lacks. Throws `ServiceError`. */
  async fetchSummaries(): Promise<void> {
    if (this.#state !== 'following') return;
    await this.#enqueue(async () => {
      const { database } = this.#options;
      const knownIds = new Set((await database.listSummaries()).map(({ id }) => id));
      for (const archived of ['false', 'true']) {
        const { summaries } = await this.#listPages({ archived }, Number.POSITIVE_INFINITY);
        await database.putSummaries(summaries.filter(({ id }) => !knownIds.has(id)).map(toListedSummary));
      }
    });
  }

  /** Loads a page of the chat list. Returns undefined if it is unavailable. */
  async list(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ChatPage | undefined> {
    return this.#state === 'following' ? this.#options.chats.list(query, signal).catch(() => undefined) : undefined;
  }

  /** Sends changes for at most 3 s. Deletes the browser data if all are sent. Does nothing if the service stores no chats. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const timer of this.#scheduled.values()) clearTimeout(timer);
    if (this.#state !== 'following') return;
    this.#state = 'closed';
    const { database } = this.#options;
    await Promise.race([
      this.#enqueue(() => this.#sendAll()),
      new Promise((resolve) => setTimeout(resolve, closeTimeoutMs)),
    ]).catch(() => undefined);
    if ((await database.listUnsent()).length === 0) await database.clear();
  }

  /** Deletes all chats of the user from the service. Throws `ServiceError` if it cannot be reached. */
  async removeAll(): Promise<void> {
    if (this.#state === 'following') await this.#enqueue(() => this.#options.chats.removeAll());
  }

  async #round(): Promise<void> {
    await this.#enqueue(async () => {
      await this.#applyChanges();
      await this.#sendAll();
    }).catch((error: unknown) => {
      // Without this route, chats are stored only in the browser.
      if (toErrorDetails(error).code === 'route_not_found') this.#state = 'off';
    });
    clearTimeout(this.#timer);
    if (this.#state === 'following')
      this.#timer = setTimeout(() => (document.hidden ? undefined : this.#round()), pollIntervalMs);
  }

  /** Runs actions one after the other. */
  #enqueue(act: () => Promise<void>): Promise<void> {
    const done = this.#work.then(act);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #applyChanges(): Promise<void> {
    const { chats, database } = this.#options;
    const listState = await database.getSyncState(listStateId);
    if (listState === undefined) return this.#reset();
    for (let { revision } = listState, hasMore = true; hasMore; ) {
      const changes = await chats.listChanges(revision);
      if (changes.reset) return this.#reset(changes.revision < revision);
      await this.#putSummaries(changes.data);
      if (changes.revision !== revision) await database.putSyncState({ ...listState, revision: changes.revision });
      ({ revision, hasMore } = changes);
    }
  }

  /**
   * Loads the current list, and removes sent chats from the database that the service no longer has. If the service lost data
   * (`isBehind`), all stored chats are sent again.
   */
  async #reset(isBehind = false): Promise<void> {
    const { database, onChange } = this.#options;
    const local = await database.listSummaries();
    // A chat is removed only if the complete list lacks it.
    const maxPages = local.length === 0 ? initialPages : Number.POSITIVE_INFINITY;
    const { summaries, revision } = await this.#listPages({}, maxPages);
    // In this order, because the next changes include chats that are archived in the meantime.
    const archived = await this.#listPages({ archived: 'true' }, maxPages);
    summaries.push(...archived.summaries);
    const listedIds = new Set(summaries.map(({ id }) => id));
    if (isBehind) for (const id of await database.listStoredIds()) await database.markUnsent(id);
    const unsentIds = new Set((await database.listUnsent()).map(({ id }) => id));
    const removedSummaries = local.filter(({ id }) => !listedIds.has(id) && !unsentIds.has(id));
    for (const { id } of removedSummaries) await database.deleteLocal(id);
    const [first] = removedSummaries;
    if (first !== undefined) onChange(first.id);
    await this.#putSummaries(summaries);
    await database.putSyncState({ id: listStateId, revision, turns: [], fields: noFields });
  }

  /** Returns the first pages of a list, and the revision from which to follow changes. */
  async #listPages(
    query: Readonly<Record<string, string>>,
    maxPages: number,
  ): Promise<{ summaries: RemoteChatSummary[]; revision: number }> {
    const { chats } = this.#options;
    const first = await chats.list({ ...query, limit: '500' });
    const summaries = [...first.data];
    for (let page = 1, token = first.nextToken; page < maxPages && token !== null; page += 1) {
      const next = await chats.list({ ...query, limit: '500', token });
      summaries.push(...next.data);
      token = next.nextToken;
    }
    return { summaries, revision: first.revision };
  }

  async #putSummaries(summaries: readonly RemoteChatSummary[]): Promise<void> {
    const { database, onChange } = this.#options;
    if (summaries.length === 0) return;
    const listed: ConversationSummary[] = [];
    const storedIds = await database.listStoredIds();
    for (const summary of summaries) {
      const { id } = summary;
      if (summary.deleted) {
        const isUnsent = (await database.listUnsent()).some((entry) => entry.id === id && entry.isRemoved !== true);
        if (!isUnsent) await database.deleteLocal(id);
        onChange(id);
      } else if (storedIds.has(id)) {
        if ((await database.getSyncState(id))?.revision !== summary.revision) await this.#pull(id);
      } else listed.push(toListedSummary(summary));
    }
    await database.putSummaries(listed);
    const [first] = listed;
    if (first !== undefined) onChange(first.id);
  }

  /** Merges the state of the service into the database without losing local changes. */
  async #pull(id: string, turns: 'new' | 'all' = 'new'): Promise<void> {
    const { chats, database, onChange } = this.#options;
    const [local, syncState] = await Promise.all([database.readConversation(id), database.getSyncState(id)]);
    const since = local === undefined || turns === 'all' ? 0 : (syncState?.revision ?? 0);
    const chat = await chats.readChat(id, since);
    const remote = fromChat(chat);
    await database.putSynced(local === undefined ? remote : mergeConversations(local, remote, syncState?.fields), {
      id,
      revision: Number(chat.revision),
      ...addSyncedTurns(since === 0 ? undefined : syncState, Object.values(remote.turns)),
      fields: getSharedFields(remote),
    });
    onChange(id);
  }

  async #sendAll(): Promise<void> {
    for (const { id } of await this.#options.database.listUnsent()) if (!this.#rejected.has(id)) await this.#send(id);
  }

  /** Sends the missing parts of a chat. Throws like `sendNow`. */
  async #send(id: string): Promise<void> {
    const { database } = this.#options;
    const entry = await database.findUnsent(id);
    if (entry === undefined) return;
    try {
      if (entry.isRemoved) await this.#sendRemoval(id);
      else await this.#sendTurns(id);
      await database.recordSent(entry);
    } catch (error) {
      const { status } = toErrorDetails(error);
      if (status < 400 || status >= 500 || status === 401 || status === 404 || status === 429) throw error;
      this.#rejected.add(id);
    }
  }

  async #sendRemoval(id: string): Promise<void> {
    await this.#options.chats.remove(id).catch((error: unknown) => {
      if (toErrorDetails(error).code !== 'response_not_found') throw error;
    });
  }

  async #sendTurns(id: string): Promise<void> {
    const { chats, database } = this.#options;
    for (let attempts = 0; attempts < maxAttempts; ) {
      const conversation = await database.readConversation(id);
      const syncState = await database.getSyncState(id);
      if (conversation === undefined) return;
      const turns = takePortion(listUnsentTurns(conversation, syncState));
      if (turns.length === 0 && !areFieldsUnsent(conversation, syncState)) return;
      const fields = getSharedFields(conversation);
      const body = { ...fields, updatedAtMs: conversation.updatedAtMs, turns };
      const sent = await chats.write(id, body, syncState?.revision).catch((error: unknown) => {
        if (toErrorDetails(error).status !== 412) throw error;
      });
      if (sent === undefined) {
        attempts += 1;
        await this.#pullOrRecreate(id);
      } else {
        await database.putSyncState({ id, revision: sent.revision, ...addSyncedTurns(syncState, turns), fields });
      }
    }
    throw new Error('Too many concurrent writes to this chat');
  }

  /** Pulls a chat. Prepares to create it again if it was deleted elsewhere while turns were added here. */
  async #pullOrRecreate(id: string): Promise<void> {
    await this.#pull(id).catch(async (error: unknown) => {
      if (toErrorDetails(error).code !== 'response_not_found') throw error;
      await this.#options.database.deleteSyncState(id);
    });
  }
}

const noFields: SyncState['fields'] = { title: '', deployment: '', shown: {}, createdAtMs: 0 };

export function toListedSummary({
  id,
  title = '',
  deployment = '',
  updatedAtMs = 0,
  pinned,
  archived,
  tags,
}: RemoteChatSummary): ConversationSummary {
  const attributes = getListAttributes({ title, pinned, archived, tags } as ListAttributes);
  return { id, ...attributes, deployment, updatedAtMs, said: [title, ...attributes.tags].join('\n').toLowerCase() };
}

/** Returns as many turns as one request accepts, at least one. */
function takePortion(turns: readonly Turn[]): readonly Turn[] {
  const portion: Turn[] = [];
  let chars = 0;
  for (const turn of turns) {
    chars += JSON.stringify(turn).length;
    if (portion.length > 0 && (chars > maxCharsPerRequest || portion.length >= maxTurnsPerRequest)) break;
    portion.push(turn);
  }
  return portion;
}
