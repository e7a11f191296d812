import { type Conversation, settled } from './conversation.ts';
import { type Database, type Head, toHead } from './database.ts';

const saveAfterMs = 400;

/** The user's conversations: the open ones in memory, all of them in the database. Views are told of each change. */
export class Library {
  readonly #database: Database;
  readonly #open = new Map<string, Conversation>();
  /** The form in which each was written last. */
  readonly #saved = new Map<string, Conversation>();
  readonly #unsaved = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #views = new Set<() => void>();
  #heads: readonly Head[] = [];

  constructor(database: Database) {
    this.#database = database;
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
  readonly heads = (): readonly Head[] => this.#heads;

  /** One that is open. */
  readonly find = (id: string): Conversation | undefined => this.#open.get(id);

  /** Opens one; false where there is none of this id. */
  async open(id: string): Promise<boolean> {
    if (this.#open.has(id)) return true;
    const stored = await this.#database.read(id).catch(() => undefined);
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
    if (before?.updatedAtMs !== conversation.updatedAtMs || before.title !== conversation.title) {
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

  /** Changes one that is open. */
  change(id: string, toNext: (conversation: Conversation) => Conversation, when?: 'soon' | 'now'): void {
    const conversation = this.#open.get(id);
    if (conversation !== undefined) this.put(toNext(conversation), when);
  }

  remove(id: string): void {
    clearTimeout(this.#unsaved.get(id));
    this.#unsaved.delete(id);
    this.#open.delete(id);
    this.#saved.delete(id);
    this.#heads = this.#heads.filter((head) => head.id !== id);
    void this.#database.remove(id).catch(() => undefined);
    this.#tell();
  }

  /** Saves what is not saved yet. */
  saveAll(): void {
    for (const id of [...this.#unsaved.keys()]) this.#save(id);
  }

  #save(id: string): void {
    clearTimeout(this.#unsaved.get(id));
    this.#unsaved.delete(id);
    const conversation = this.#open.get(id);
    if (conversation === undefined) return;
    const before = this.#saved.get(id);
    this.#saved.set(id, conversation);
    this.#database.write(conversation, before).catch(() => this.#saved.delete(id));
  }

  #tell(): void {
    for (const view of this.#views) view();
  }
}

function sorted(heads: readonly Head[]): readonly Head[] {
  return [...heads].sort((one, other) => other.updatedAtMs - one.updatedAtMs);
}

/** The heads whose conversation has every word of the query. */
export function findHeads(heads: readonly Head[], query: string): readonly Head[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? heads : heads.filter(({ said }) => words.every((word) => said.includes(word)));
}
