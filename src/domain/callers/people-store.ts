import type { Profile } from './caller.ts';

/** A user as other users see it. Without a claim of the identity provider, the name or address is null. */
export interface Person extends Profile {
  /** User subject. */
  readonly id: string;
}

/** A user at the time of a sign-in. */
export interface SignedInPerson extends Person {
  /** Project that the token names. Null for the project that all users of the provider have. */
  readonly project: string | null;
  readonly roles: readonly string[];
  readonly seenAtMs: number;
}

/** Selects people by the start of their name or of a word in it. The people have one of the roles, or the project. */
export interface PeopleSearch {
  readonly text: string;
  readonly project: string | null;
  readonly roles: readonly string[];
  readonly limit: number;
}

/** Port that stores the people who have signed in, so that users can share with them. Throws `StoreError`. */
export interface PeopleStore {
  /** Adds or replaces a person. Deletes the people who were last seen before a time. */
  record(person: SignedInPerson, deleteBeforeMs: number): Promise<void>;
  /** Returns those of the people who exist, in no particular order. */
  find(ids: readonly string[]): Promise<readonly Person[]>;
  /** Returns the people with an address, ignoring case. */
  findByAddress(address: string, limit: number): Promise<readonly Person[]>;
  /** Returns people in the order of their names. */
  search(search: PeopleSearch): Promise<readonly Person[]>;
  /** Returns whether the last token of any person has a role. */
  hasRole(role: string): Promise<boolean>;
}

/** Returns a name without case and accents, for comparisons. */
export function foldName(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
