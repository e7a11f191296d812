import type { ChatHead, ChatPage, Chats } from '../service/chats.ts';
import { faultOf } from '../service/fault.ts';
import { type Arrangement, arrangementOf } from './arrangement.ts';
import type { Conversation, Turn } from './conversation.ts';
import type { Database, Head } from './database.ts';
import { areFieldsUnsent, fieldsOf, fromChat, merged, type SyncMark, unsentTurns } from './merge.ts';

interface SyncParts {
  readonly chats: Chats;
  readonly database: Database;
  /** Called with each conversation that changed elsewhere, when the database has it. */
  readonly onChange: (id: string) => void;
}

const followMs = 4000;
const sendAfterMs = 500;
const pagesAtFirst = 20;
const mostTries = 5;
const mostTurnsAtOnce = 200;
const mostCharsAtOnce = 4_000_000;
const leaveMs = 3000;
/** Of the mark that says up to where changes were followed. */
const followed = '';

/**
 * Keeps the database of this browser and the service alike. The database comes first: what cannot be sent waits in it. A turn
 * never changes once it is complete, so two devices that write at once are merged by adding up their turns.
 */
export class ServerSync {
  readonly #parts: SyncParts;
  readonly #due = new Map<string, ReturnType<typeof setTimeout>>();
  /** What the service does not take, until it changes. */
  readonly #refused = new Set<string>();
  #work: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: 'following' | 'off' | 'closed' = 'following';

  constructor(parts: SyncParts) {
    this.#parts = parts;
  }

  /** Whether the service keeps conversations. */
  get isFollowing(): boolean {
    return this.#state === 'following';
  }

  /** Brings both to the same, and then follows what changes. Resolves after the first round, whether the service could be reached or not. */
  async start(): Promise<void> {
    await this.#round();
  }

  /** What happens now: called when the page is seen again, or the network is back. */
  readonly hurry = (): void => {
    if (document.hidden || this.#state !== 'following') return;
    clearTimeout(this.#timer);
    void this.#round();
  };

  /** The database has something that is to be sent. */
  noteWritten(id: string): void {
    this.#refused.delete(id);
    clearTimeout(this.#due.get(id));
    if (this.#state !== 'following') return;
    this.#due.set(
      id,
      setTimeout(() => {
        this.#due.delete(id);
        void this.#inTurn(() => this.#send(id)).catch(() => undefined);
      }, sendAfterMs),
    );
  }

  /** Has the service know all of one that the database has. Throws where it cannot be reached. */
  async bringUp(id: string): Promise<void> {
    await this.#inTurn(() => this.#send(id));
  }

  /** One that the database has only in its list. */
  async fetch(id: string): Promise<void> {
    if (this.#state !== 'following') return;
    await this.#inTurn(() => this.#takeIn(id)).catch(() => undefined);
  }

  /** Has the list in the database complete. Throws ServiceFault. */
  async learnAll(): Promise<void> {
    if (this.#state !== 'following') return;
    await this.#inTurn(async () => {
      const { database } = this.#parts;
      const known = new Set((await database.heads()).map(({ id }) => id));
      for (const archived of ['false', 'true']) {
        const { heads } = await this.#listAll({ archived }, Number.POSITIVE_INFINITY);
        await database.putHeads(heads.filter(({ id }) => !known.has(id)).map(toListed));
      }
    });
  }

  /** A page of the service's list; undefined where it cannot be had. */
  async list(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ChatPage | undefined> {
    return this.#state === 'following' ? this.#parts.chats.list(query, signal).catch(() => undefined) : undefined;
  }

  /** Sends what is left, and then keeps nothing in this browser, unless something could not be sent. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer);
    for (const timer of this.#due.values()) clearTimeout(timer);
    if (this.#state !== 'following') return;
    this.#state = 'closed';
    const { database } = this.#parts;
    await Promise.race([this.#inTurn(() => this.#sendAll()), new Promise((resolve) => setTimeout(resolve, leaveMs))]).catch(
      () => undefined,
    );
    if ((await database.unsent()).length === 0) await database.clear();
  }

  /** Removes everything from the service. Throws ServiceFault where it cannot be reached. */
  async removeAll(): Promise<void> {
    if (this.#state === 'following') await this.#inTurn(() => this.#parts.chats.removeAll());
  }

  async #round(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#follow();
      await this.#sendAll();
    }).catch((thrown: unknown) => {
      // Conversations are the browser's own here.
      if (faultOf(thrown).code === 'route_not_found') this.#state = 'off';
    });
    clearTimeout(this.#timer);
    if (this.#state === 'following') this.#timer = setTimeout(() => (document.hidden ? undefined : this.#round()), followMs);
  }

  /** One after the other. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#work.then(act);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #follow(): Promise<void> {
    const { chats, database } = this.#parts;
    const mark = await database.mark(followed);
    if (mark === undefined) return this.#begin();
    for (let { revision } = mark, hasMore = true; hasMore; ) {
      const changes = await chats.changes(revision);
      if (changes.reset) return this.#begin(changes.revision < revision);
      await this.#takeHeads(changes.data);
      if (changes.revision !== revision) await database.putMark({ ...mark, revision: changes.revision });
      ({ revision, hasMore } = changes);
    }
  }

  /** Takes the latest from the list, and forgets what the service has no more; where that has lost something (`isBehind`), it gets it again. */
  async #begin(isBehind = false): Promise<void> {
    const { database, onChange } = this.#parts;
    const { heads, revision } = await this.#listAll({});
    // In this order: what is archived meanwhile is told with the next changes.
    const archived = await this.#listAll({ archived: 'true' });
    heads.push(...archived.heads);
    const listed = new Set(heads.map(({ id }) => id));
    const kept = await database.heads();
    if (isBehind) for (const id of await database.keptIds()) await database.revive(id);
    const unsent = new Set((await database.unsent()).map(({ id }) => id));
    const gone = kept.filter(({ id }) => !listed.has(id) && !unsent.has(id));
    for (const { id } of gone) await database.forget(id);
    const [one] = gone;
    if (one !== undefined) onChange(one.id);
    await this.#takeHeads(heads);
    await database.putMark({ id: followed, revision, turns: [], fields: noFields });
  }

  /** The first of a list, and the revision to follow changes from. */
  async #listAll(
    query: Readonly<Record<string, string>>,
    mostPages = pagesAtFirst,
  ): Promise<{ heads: ChatHead[]; revision: number }> {
    const { chats } = this.#parts;
    const first = await chats.list({ ...query, limit: '500' });
    const heads = [...first.data];
    for (let page = 1, token = first.nextToken; page < mostPages && token !== null; page += 1) {
      const next = await chats.list({ ...query, limit: '500', token });
      heads.push(...next.data);
      token = next.nextToken;
    }
    return { heads, revision: first.revision };
  }

  async #takeHeads(heads: readonly ChatHead[]): Promise<void> {
    const { database, onChange } = this.#parts;
    if (heads.length === 0) return;
    const listed: Head[] = [];
    const kept = await database.keptIds();
    for (const head of heads) {
      const { id } = head;
      if (head.deleted) {
        const isUnsent = (await database.unsent()).some((each) => each.id === id && each.isRemoved !== true);
        if (!isUnsent) await database.forget(id);
        onChange(id);
      } else if (kept.has(id)) {
        if ((await database.mark(id))?.revision !== head.revision) await this.#takeIn(id);
      } else listed.push(toListed(head));
    }
    await database.putHeads(listed);
    const [first] = listed;
    if (first !== undefined) onChange(first.id);
  }

  /** Brings the database to what the service has of one, without losing what it has itself. */
  async #takeIn(id: string): Promise<void> {
    const { chats, database, onChange } = this.#parts;
    const [own, mark] = await Promise.all([database.read(id), database.mark(id)]);
    const since = own === undefined ? 0 : (mark?.revision ?? 0);
    const chat = await chats.read(id, since);
    const told = fromChat(chat);
    await database.take(own === undefined ? told : merged(own, told, mark?.fields), {
      id,
      revision: Number(chat.revision),
      turns: [...new Set([...(since === 0 ? [] : (mark?.turns ?? [])), ...Object.keys(told.turns)])],
      fields: fieldsOf(told),
    });
    onChange(id);
  }

  async #sendAll(): Promise<void> {
    for (const { id } of await this.#parts.database.unsent()) if (!this.#refused.has(id)) await this.#send(id);
  }

  /** Sends what the service has not of one. Throws where it cannot be reached. */
  async #send(id: string): Promise<void> {
    const { database } = this.#parts;
    const entry = await database.unsentOf(id);
    if (entry === undefined) return;
    try {
      if (entry.isRemoved) await this.#sendRemoval(id);
      else await this.#sendTurns(id);
      await database.sent(entry);
    } catch (thrown) {
      const { status } = faultOf(thrown);
      if (status < 400 || status >= 500 || status === 401 || status === 404 || status === 429) throw thrown;
      this.#refused.add(id);
    }
  }

  async #sendRemoval(id: string): Promise<void> {
    await this.#parts.chats.remove(id).catch((thrown: unknown) => {
      if (faultOf(thrown).code !== 'response_not_found') throw thrown;
    });
  }

  async #sendTurns(id: string): Promise<void> {
    const { chats, database } = this.#parts;
    for (let tries = 0; tries < mostTries; ) {
      const conversation = await database.read(id);
      const mark = await database.mark(id);
      if (conversation === undefined) return;
      const turns = portionOf(unsentTurns(conversation, mark));
      if (turns.length === 0 && !areFieldsUnsent(conversation, mark)) return;
      const fields = fieldsOf(conversation);
      const body = { ...fields, updatedAtMs: conversation.updatedAtMs, turns };
      const sent = await chats.write(id, body, mark?.revision).catch((thrown: unknown) => {
        if (faultOf(thrown).status !== 412) throw thrown;
      });
      if (sent === undefined) {
        tries += 1;
        await this.#takeInOrRevive(id);
      } else {
        const ids = [...(mark?.turns ?? []), ...turns.map((turn) => turn.id)];
        await database.putMark({ id, revision: sent.revision, turns: ids, fields });
      }
    }
    throw new Error('others write without end');
  }

  /** One that was deleted elsewhere, while something was added here, is made anew. */
  async #takeInOrRevive(id: string): Promise<void> {
    await this.#takeIn(id).catch(async (thrown: unknown) => {
      if (faultOf(thrown).code !== 'response_not_found') throw thrown;
      await this.#parts.database.dropMark(id);
    });
  }
}

const noFields: SyncMark['fields'] = { title: '', deployment: '', shown: {}, createdAtMs: 0 };

/** A head as the list has it. */
export function toListed({ id, title = '', deployment = '', updatedAtMs = 0, pinned, archived, tags }: ChatHead): Head {
  const arrangement = arrangementOf({ title, pinned, archived, tags } as Arrangement);
  return { id, ...arrangement, deployment, updatedAtMs, said: [title, ...arrangement.tags].join('\n').toLowerCase() };
}

/** As many as one request takes, one at least. */
function portionOf(turns: readonly Turn[]): readonly Turn[] {
  const portion: Conversation['turns'][string][] = [];
  let chars = 0;
  for (const turn of turns) {
    chars += JSON.stringify(turn).length;
    if (portion.length > 0 && (chars > mostCharsAtOnce || portion.length >= mostTurnsAtOnce)) break;
    portion.push(turn);
  }
  return portion;
}
