import type { BoundedCache, Caches } from '#base/cache/bounded-cache.ts';
import { filterObjects, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { isStorableText } from '#base/text/storable-key.ts';
import { type Clock, dayMs } from '#base/time/clock.ts';
import { hasSecretName, type KeyEntry } from '#contract/configuration/access.ts';
import { listKnownRoles } from '#contract/configuration/checks/find-configuration-warnings.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller, Profile } from '#domain/callers/caller.ts';
import { foldName, type PeopleStore, type Person } from '#domain/callers/people-store.ts';
import { subjectPrefixes } from '#domain/callers/subjects.ts';
import type { ScimStore, ScimUser } from '#domain/scim/scim-store.ts';
import { toScimSubject } from './group-roles.ts';

export interface PeopleDeps {
  readonly store: PeopleStore;
  /** Undefined if the service stores no provisioned users. */
  readonly scim: Pick<ScimStore, 'listUsers'> | undefined;
  readonly snapshot: () => {
    readonly configuration: Pick<Configuration, 'identityProviders' | 'keys' | 'roles' | 'scim'>;
  };
  readonly clock: Pick<Clock, 'epochMs'>;
  readonly caches: Caches;
}

/** People and roles that a caller can share with. */
export interface PeopleMatches {
  readonly people: readonly Person[];
  readonly roles: readonly string[];
}

const maxMatches = 10;
/** Shorter texts find people only by exact matches. */
const minNameChars = 2;
/** A person who does not sign in for this time is deleted. */
const retentionMs = 400 * dayMs;

/**
 * Directory for sharing applications. It contains users who have signed in, provisioned users, and the projects of configured
 * keys. No caller can list it. See `search`.
 */
export class People {
  readonly #deps: PeopleDeps;
  /** Last recorded state by user. */
  readonly #states: BoundedCache<{ readonly text: string; readonly atMs: number }>;

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
    this.#states = deps.caches.create('people', { maxBytes: 2 * 1024 ** 2, countBytes: ({ text }) => text.length });
  }

  /** Called with each verified token. Writes a person who changed, or who was not recorded for a day. Never fails. */
  async onSignIn({ subject, project, roles }: Caller, { name, address }: Profile): Promise<void> {
    const { store, clock, snapshot } = this.#deps;
    const text = JSON.stringify([name, address, project, roles]);
    const atMs = clock.epochMs();
    const last = this.#states.find(subject);
    if (last?.text === text && atMs - last.atMs < dayMs) return;
    this.#states.set(subject, { text, atMs });
    const searchableProject = Object.hasOwn(snapshot().configuration.identityProviders, project) ? null : project;
    const person = { id: subject, name, address, project: searchableProject, roles, seenAtMs: atMs };
    await store.record(person, atMs - retentionMs).catch(() => this.#states.delete(subject));
  }

  /** Returns the people with these IDs. IDs that belong to no person are omitted. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Person>> {
    const { store, snapshot } = this.#deps;
    const keySubjects = new Set(listKeySubjects(snapshot().configuration));
    const found = new Map<string, Person>();
    for (const id of ids) if (keySubjects.has(id)) found.set(id, toKeyPerson(id));
    for (const person of await store.find(ids)) found.set(person.id, person);
    for (const id of ids) {
      const provisioned = found.has(id) ? undefined : await this.#findProvisioned(toClaim(id), id);
      if (provisioned !== undefined) found.set(id, provisioned);
    }
    return found;
  }

  /**
   * Returns the people and roles that a text finds. Exact texts find people by ID, address, or user name, users of keys by the
   * project or name of a key, and roles. The start of a name finds the caller's own roles. From 2 characters on, it also finds
   * people who share the caller's project or one of the caller's roles other than `default`. A project that all users of a provider
   * have, or that has a configured key, does not count.
   */
  async search(caller: Caller, search: string): Promise<PeopleMatches> {
    const { store, snapshot } = this.#deps;
    const { configuration } = snapshot();
    const text = search.trim();
    const foldedText = foldName(text);
    const people = foldedText === '' ? [] : await this.#searchPeople(caller, text);
    const ownRoles = caller.roles.filter((role) => foldName(role).startsWith(foldedText));
    const isKnownRole = text !== '' && (listKnownRoles(configuration).has(text) || (await store.hasRole(text)));
    const unique = new Map(people.map((person) => [person.id, person]));
    unique.delete(caller.subject);
    return {
      people: [...unique.values()].slice(0, maxMatches),
      roles: [...new Set([...(isKnownRole ? [text] : []), ...ownRoles])].slice(0, maxMatches),
    };
  }

  async #searchPeople({ project, roles }: Caller, text: string): Promise<readonly Person[]> {
    const { store, snapshot } = this.#deps;
    const { configuration } = snapshot();
    const foldedText = foldName(text);
    const exact = [
      ...(await this.find([text, `${subjectPrefixes.key}${text}`])).values(),
      ...(await store.findByAddress(text, maxMatches)),
      ...[await this.#findProvisioned(text)].filter((person) => person !== undefined),
      ...listKeySubjects(configuration, (entry, name) => toFoldedNames(entry, name).includes(foldedText)).map(toKeyPerson),
    ];
    if ([...text].length < minNameChars) return exact;
    const shared = roles.filter((role) => role !== defaultRole);
    const isSearchableProject =
      !Object.hasOwn(configuration.identityProviders, project) &&
      !listKeySubjects(configuration).includes(`${subjectPrefixes.key}${project}`);
    const named = await store.search({ text, roles: shared, project: isSearchableProject ? project : null, limit: maxMatches });
    const hasSharedRoleAndName = (entry: KeyEntry, name: string): boolean =>
      (entry.roles ?? [entry.role ?? defaultRole]).some((role) => shared.includes(role)) &&
      toFoldedNames(entry, name).some((folded) => folded.startsWith(foldedText));
    return [...exact, ...named, ...listKeySubjects(configuration, hasSharedRoleAndName).map(toKeyPerson)];
  }

  /** Finds an active provisioned user by the user name or, with `id`, by that subject, whose claim is `claim`. */
  async #findProvisioned(claim: string, id?: string): Promise<Person | undefined> {
    const { scim, snapshot } = this.#deps;
    if (!isStorableText(claim)) return undefined;
    const { configuration } = snapshot();
    const attribute = id === undefined ? 'userName' : configuration.scim.userAttribute;
    const filter = { op: 'eq', path: { attribute }, value: claim } as const;
    const page = await scim?.listUsers({ filter, offset: 0, limit: maxMatches });
    for (const user of page?.resources ?? []) {
      const subject = toScimSubject(configuration, user);
      if (subject !== undefined && user.isActive && (id ?? subject) === subject) return toPerson(subject, user);
    }
    return undefined;
  }
}

/** Returns the claim of a user subject. */
function toClaim(subject: string): string {
  return subject.startsWith(subjectPrefixes.token) ? subject.replace(/^jwt:[^:]*:/, '') : subject;
}

function toPerson(id: string, { userName, attributes }: ScimUser): Person {
  const { displayName, name } = attributes;
  const formatted = isJsonObject(name) ? name.formatted : undefined;
  const fullName = [displayName, formatted].find((text) => typeof text === 'string' && text !== '');
  return {
    id,
    name: typeof fullName === 'string' ? fullName : null,
    address: userName.includes('@') ? userName : toAddress(attributes),
  };
}

function toAddress({ emails }: JsonObject): string | null {
  const values = filterObjects(emails);
  const first = (values.find(({ primary }) => primary === true) ?? values[0])?.value;
  return typeof first === 'string' ? first : null;
}

/** Returns the user subjects of configured keys, or of those that `isMatch` accepts. */
function listKeySubjects({ keys }: Pick<Configuration, 'keys'>, isMatch = (_entry: KeyEntry, _name: string) => true): string[] {
  const entries = Object.entries(keys).filter(([name, entry]) => isMatch(entry, name));
  return [...new Set(entries.map(([, { project }]) => `${subjectPrefixes.key}${project}`))];
}

/** Returns the project, the display name, and the entry name of a key for comparisons. Omits an entry name that is the secret. */
function toFoldedNames(entry: KeyEntry, entryName: string): readonly string[] {
  return [entry.project, entry.name ?? '', hasSecretName(entry) ? '' : entryName].map(foldName);
}

function toKeyPerson(id: string): Person {
  return { id, name: id.slice(subjectPrefixes.key.length), address: null };
}
