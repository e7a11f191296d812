import { maxSharedWith } from '#contract/application-access.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Issue } from '#contract/configuration/issue.ts';
import type { Person } from '#domain/callers/people-store.ts';
import type { AuditRecord } from '#domain/usage/journal.ts';
import type { People } from '#services/scim/people.ts';

/** Roles and users with access to a saved application. */
export type Sharing = Pick<ApplicationEntry, 'userRoles' | 'users'>;

const maxIdLength = 200;

/** Returns an issue for each list that is too long, and for each new user that Parley does not know. */
export async function findSharingIssues(
  { userRoles = [], users = [] }: Sharing,
  { stored, people }: { readonly stored: Sharing | undefined; readonly people: Pick<People, 'find'> | undefined },
): Promise<readonly Issue[]> {
  if (userRoles.length > maxSharedWith) return [{ path: ['userRoles'], message: `must have at most ${maxSharedWith} roles` }];
  if (users.length > maxSharedWith) return [{ path: ['users'], message: `must have at most ${maxSharedWith} users` }];
  const added = users.filter((user) => stored?.users?.includes(user) !== true);
  const peopleById: ReadonlyMap<string, Person> = (await people?.find(added)) ?? new Map();
  return users.flatMap((user, index) => {
    if (peopleById.has(user) || !added.includes(user)) return [];
    const message = `names ${JSON.stringify(user.slice(0, maxIdLength))}, a user that Parley does not know. Ask the person to sign in once, then share again`;
    return [{ path: ['users', index], message }];
  });
}

/** Returns the audit details of a change of access, or undefined if the access did not change. */
export function describeSharing(before: Sharing | undefined, after: Sharing): AuditRecord['details'] | undefined {
  const added = (key: keyof Sharing) => listMissing(after[key], before?.[key]);
  const removed = (key: keyof Sharing) => listMissing(before?.[key], after[key]);
  const details = {
    ...{ addedUsers: added('users'), removedUsers: removed('users') },
    ...{ addedRoles: added('userRoles'), removedRoles: removed('userRoles') },
  };
  const changed = Object.entries(details).filter(([, names]) => names !== '');
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Returns the settings of one entry with the access of another. */
export function replaceSharing({ userRoles, users }: Sharing, entry: ApplicationEntry): ApplicationEntry {
  const { userRoles: _roles, users: _users, ...settings } = entry;
  return { ...settings, ...(userRoles !== undefined && { userRoles }), ...(users !== undefined && { users }) };
}

function listMissing(names: readonly string[] = [], present: readonly string[] = []): string {
  return names.filter((name) => !present.includes(name)).join(', ');
}
