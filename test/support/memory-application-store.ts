import type { ApplicationStore, StoredApplication } from '#domain/application-store.ts';
import type { WriteCondition } from '#domain/write-condition.ts';

/** Applications of one test; entries are kept as text, as a durable store does. */
export class MemoryApplicationStore implements ApplicationStore {
  readonly #byId = new Map<string, string>();

  async find(id: string): Promise<StoredApplication | undefined> {
    const text = this.#byId.get(id);
    return text === undefined ? undefined : (JSON.parse(text) as StoredApplication);
  }

  async put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined> {
    const before = await this.find(application.id);
    if (!holds(before, condition)) return undefined;
    const kept = before && { owner: before.owner, createdAtMs: before.createdAtMs };
    const stored = { ...application, ...kept };
    this.#byId.set(application.id, JSON.stringify(stored));
    return stored;
  }

  async delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'> {
    const before = await this.find(id);
    if (before === undefined) return 'absent';
    if (!holds(before, condition)) return 'condition_failed';
    this.#byId.delete(id);
    return 'deleted';
  }

  async list(owner: string | undefined): Promise<readonly StoredApplication[]> {
    const all = [...this.#byId.values()].map((text) => JSON.parse(text) as StoredApplication);
    const wanted = all.filter((application) => owner === undefined || application.owner === owner);
    return wanted.sort((one, other) => (one.id < other.id ? -1 : 1));
  }
}

function holds(before: StoredApplication | undefined, condition: WriteCondition): boolean {
  if (condition === undefined) return true;
  if (condition === 'absent') return before === undefined;
  return before !== undefined && (condition === 'present' || before.etag === condition.etag);
}
