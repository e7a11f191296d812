import type { JsonObject } from '#base/json/json.ts';
import type { ScimFilter } from './scim-filter.ts';

/** A user that an identity provider provisioned (RFC 7643, 4.1). */
export interface ScimUser {
  readonly id: string;
  readonly userName: string;
  readonly externalId: string | null;
  readonly isActive: boolean;
  /** The other attributes as the provider sent them. */
  readonly attributes: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A group of provisioned users, without its members (RFC 7643, 4.2). */
export interface ScimGroup extends Pick<ScimUser, 'id' | 'externalId' | 'createdAtMs' | 'updatedAtMs'> {
  readonly displayName: string;
}

/** A member of a group, with the names of both. */
export interface ScimMember {
  readonly groupId: string;
  readonly groupName: string;
  readonly userId: string;
  readonly userName: string;
}

export interface ScimPage<Resource> {
  /** Number of resources that match the filter. */
  readonly total: number;
  readonly resources: readonly Resource[];
}

export interface ScimQuery {
  readonly filter: ScimFilter | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Changes of the members of a group, in order. */
export interface MemberChange {
  readonly op: 'add' | 'remove' | 'set';
  readonly userIds: readonly string[];
}

/** Block of a user subject that starts or ends with the write of a user. */
export interface ScimBlock {
  readonly subject: string;
  readonly isBlocked: boolean;
  readonly reason: string;
  readonly atMs: number;
}

/**
 * Result of a write. `taken`: another resource has the name. `full`: there are too many resources. `missing`: the resource does
 * not exist. `unknown`: a member does not exist. `outdated`: another request changed the user.
 */
export type ScimWriteResult = 'stored' | 'taken' | 'full' | 'missing' | 'unknown' | 'outdated';

/** Author of the blocks that provisioning causes. Only these blocks end when the user is active again. */
export const scimAuthor = 'parley:scim';

/** Port that stores provisioned users and groups. Each method throws `StoreError`. */
export interface ScimStore {
  addUser(user: ScimUser, block: ScimBlock | undefined): Promise<ScimWriteResult>;
  /** Stores `user` if the stored user still equals `before`. Otherwise returns `outdated`. */
  replaceUser(before: ScimUser, user: ScimUser, block: ScimBlock | undefined): Promise<ScimWriteResult>;
  deleteUser(id: string, block: ScimBlock | undefined): Promise<ScimWriteResult>;
  findUser(id: string): Promise<ScimUser | undefined>;
  /** Returns users in the order of their creation. */
  listUsers(query: ScimQuery): Promise<ScimPage<ScimUser>>;
  addGroup(group: ScimGroup, members: readonly string[]): Promise<ScimWriteResult>;
  replaceGroup(group: ScimGroup, changes: readonly MemberChange[]): Promise<ScimWriteResult>;
  deleteGroup(id: string): Promise<ScimWriteResult>;
  findGroup(id: string): Promise<ScimGroup | undefined>;
  /** Returns groups in the order of their creation. */
  listGroups(query: ScimQuery): Promise<ScimPage<ScimGroup>>;
  /** Returns the members of groups, or the groups of users. */
  listMembers(
    of: { readonly groups: readonly string[] } | { readonly users: readonly string[] },
    limit: number,
  ): Promise<readonly ScimMember[]>;
  /** Returns the members of the groups with these names if any resource changed since the revision. */
  readRoleMembers(
    since: number,
    groupNames: readonly string[],
  ): Promise<{ readonly revision: number; readonly members: readonly RoleMember[] | undefined }>;
}

/** A user in a group that gives roles. */
export interface RoleMember {
  readonly userName: string;
  readonly externalId: string | null;
  readonly groupName: string;
}
