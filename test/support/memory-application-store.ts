import type { Caller } from '#domain/callers/caller.ts';
import type {
  ApplicationMove,
  ApplicationStore,
  ApplicationVersion,
  SharedQuery,
  StoredApplication,
} from '#domain/deployments/application-store.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';

/** Application store of one test. Stores entries as text, like a persistent store. */
export class MemoryApplicationStore implements ApplicationStore {
  /** All versions of each application by ID, the current version last. */
  readonly #byId = new Map<string, readonly string[]>();

  async find(id: string): Promise<StoredApplication | undefined> {
    return this.#listForms(id).at(-1);
  }

  async findAll(ids: readonly string[]): Promise<readonly StoredApplication[]> {
    return ids.flatMap((id) => this.#listForms(id).at(-1) ?? []);
  }

  async put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined> {
    const before = await this.find(application.id);
    if (!isMet(condition, before?.etag)) return undefined;
    const retainedFields = before && { owner: before.owner, spelling: before.spelling, createdAtMs: before.createdAtMs };
    const stored = { ...application, ...retainedFields };
    this.#byId.set(application.id, [...(this.#byId.get(application.id) ?? []), JSON.stringify(stored)]);
    return stored;
  }

  async delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'> {
    const before = await this.find(id);
    if (before === undefined) return 'absent';
    if (!isMet(condition, before.etag)) return 'condition_failed';
    this.#byId.delete(id);
    return 'deleted';
  }

  async move({ from, to, spelling, replaces, nowMs, etag }: ApplicationMove): Promise<'moved' | 'absent' | 'occupied'> {
    const forms = this.#listForms(from);
    if (forms.length === 0) return 'absent';
    if (this.#byId.has(to) && !replaces) return 'occupied';
    const last = forms.length - 1;
    const moved = forms.map((form, index) =>
      JSON.stringify({ ...form, id: to, spelling, ...(index === last && { updatedAtMs: nowMs, etag }) }),
    );
    this.#byId.set(to, moved);
    this.#byId.delete(from);
    return 'moved';
  }

  async list(owner: string): Promise<readonly StoredApplication[]> {
    return this.#filter((application) => application.owner === owner);
  }

  async listAccessible({ subject, roles }: Pick<Caller, 'subject' | 'roles'>): Promise<readonly StoredApplication[]> {
    return this.#filter(
      ({ owner, entry: { userRoles = [], users = [] } }) =>
        owner === subject || users.includes(subject) || userRoles.some((role) => roles.includes(role)),
    );
  }

  async listShared({ after, limit, user }: SharedQuery): Promise<readonly StoredApplication[]> {
    const shared = this.#filter(({ id, entry: { userRoles = [], users = [] } }) => {
      const isMatch = user === undefined ? userRoles.length + users.length > 0 : users.includes(user);
      return id > after && isMatch;
    });
    return shared.slice(0, limit);
  }

  async listVersions(id: string): Promise<readonly ApplicationVersion[]> {
    const forms = this.#listForms(id).map(({ etag, updatedAtMs }, index) => ({
      version: index + 1,
      etag,
      savedAtMs: updatedAtMs,
    }));
    return forms.reverse();
  }

  async findVersion(id: string, version: number): Promise<StoredApplication | undefined> {
    return version < 1 ? undefined : this.#listForms(id).at(version - 1);
  }

  #listForms(id: string): StoredApplication[] {
    return (this.#byId.get(id) ?? []).map((text) => JSON.parse(text) as StoredApplication);
  }

  #filter(isMatch: (application: StoredApplication) => boolean): readonly StoredApplication[] {
    const all = [...this.#byId.keys()].flatMap((id) => this.#listForms(id).at(-1) ?? []);
    return all.filter(isMatch).sort((left, right) => (left.id < right.id ? -1 : 1));
  }
}
