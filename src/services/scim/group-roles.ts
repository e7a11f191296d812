import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { toTokenSubject } from '#domain/callers/subjects.ts';
import type { ScimStore } from '#domain/scim/scim-store.ts';
import { DataRefresher, type DataRefresherDeps } from '../node/data-refresher.ts';

export interface GroupRolesDeps extends DataRefresherDeps {
  readonly store: Pick<ScimStore, 'readRoleMembers'>;
  readonly snapshot: () => { readonly configuration: Pick<Configuration, 'scim' | 'identityProviders'> };
}

/**
 * Roles that users have because of their provisioned groups, all in memory. While the store is unavailable, the last roles stay
 * valid. If the configuration gives no group a role, the store is not read.
 */
export class GroupRoles {
  readonly #deps: GroupRolesDeps;
  readonly #refresher: DataRefresher;
  /** Roles by the subject in lower case, because names of provisioned users ignore case. */
  #roles: ReadonlyMap<string, readonly string[]> = new Map();
  #revision = -1;
  #settings: Configuration['scim'] | undefined;

  constructor(deps: GroupRolesDeps) {
    this.#deps = deps;
    this.#refresher = new DataRefresher(deps, {
      name: 'group-roles',
      outageMessage: 'could not read the groups of provisioned users. The last roles stay valid',
      readData: () => this.#read(),
      isDue: () => this.#settings !== deps.snapshot().configuration.scim,
    });
    this.#refresher.start();
  }

  /** Returns the caller of a token with the roles of its groups. */
  async addRoles(caller: Caller): Promise<Caller> {
    await this.#refresher.firstRead;
    const groupRoles = this.#roles.size === 0 ? undefined : this.#roles.get(caller.subject.toLowerCase());
    return groupRoles === undefined ? caller : { ...caller, roles: [...new Set([...caller.roles, ...groupRoles])] };
  }

  /** Writes to the store. Settles after this node has read the data or scheduled a read. Rejects if the write fails. */
  write<Value>(write: () => Promise<Value>): Promise<Value> {
    return this.#refresher.write(write);
  }

  close(): void {
    this.#refresher.close();
  }

  async #read(): Promise<void> {
    const { configuration } = this.#deps.snapshot();
    const { scim } = configuration;
    const groups = new Map(Object.entries(scim.groups).map(([name, roles]) => [name.toLowerCase(), roles]));
    if (groups.size === 0) {
      this.#roles = new Map();
      this.#settings = scim;
      return;
    }
    const sinceRevision = this.#settings === scim ? this.#revision : -1;
    const { revision, members } = await this.#deps.store.readRoleMembers(sinceRevision, [...groups.keys()]);
    this.#revision = revision;
    this.#settings = scim;
    if (members === undefined) return;
    const roles = new Map<string, string[]>();
    for (const { groupName, ...user } of members) {
      const subject = toScimSubject(configuration, user)?.toLowerCase();
      if (subject !== undefined)
        roles.set(subject, [...(roles.get(subject) ?? []), ...(groups.get(groupName.toLowerCase()) ?? [])]);
    }
    this.#roles = roles;
  }
}

/**
 * Returns the user subject that tokens of a provisioned user have. Returns undefined if the user lacks the attribute, or if no
 * identity provider is configured.
 */
export function toScimSubject(
  { scim, identityProviders }: Pick<Configuration, 'scim' | 'identityProviders'>,
  user: { readonly userName: string; readonly externalId: string | null },
): string | undefined {
  const [first] = Object.keys(identityProviders);
  const name = scim.provider ?? first;
  const claim = user[scim.userAttribute];
  if (name === undefined || claim === null || claim === '' || !Object.hasOwn(identityProviders, name)) return undefined;
  return toTokenSubject({ name, isFirst: name === first }, claim);
}
