import { isJsonObject } from '#base/json.ts';
import type { IdentityProviderEntry } from '#contract/configuration/access.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { unauthorized } from '#domain/callers/identify.ts';
import { isReservedSubject, subjectPrefixes } from '#domain/callers/subjects.ts';

const longestSubject = 512;

/** The identity provider whose claims are read. */
export interface ClaimsSource {
  /** Its name in the configuration. */
  readonly name: string;
  /** Whether it stands first in the configuration. */
  readonly isFirst: boolean;
  readonly entry: Pick<IdentityProviderEntry, 'userIdClaim' | 'rolesClaim'>;
}

/** Whom verified claims stand for; as its project counts the name of the provider. Throws `invalid_token` where they name no user. */
export function toCaller(claims: Readonly<Record<string, unknown>>, { name, isFirst, entry }: ClaimsSource): Caller {
  const user = claimAt(claims, entry.userIdClaim);
  if (typeof user !== 'string' || !isSubject(user))
    throw unauthorized('invalid_token', `The token names no user: its claim ${entry.userIdClaim} is missing or cannot be one.`);
  const roles = entry.rolesClaim === undefined ? [] : toRoles(claimAt(claims, entry.rolesClaim));
  return {
    subject:
      isFirst && !isReservedSubject(user) ? user : `${subjectPrefixes.token}${name.replace(/[%:]/g, encodeURIComponent)}:${user}`,
    project: name,
    roles: roles.length > 0 ? roles : [defaultRole],
    chain: null,
  };
}

/** Text that every store keeps as it is: short, without control characters and halves of characters. */
function isSubject(user: string): boolean {
  return user.length > 0 && user.length <= longestSubject && !/[\p{Cc}\p{Cs}]/u.test(user);
}

/** A claim by its name, else by a dotted path; names of claims may hold dots themselves, such as addresses. */
function claimAt(claims: unknown, path: string): unknown {
  if (!isJsonObject(claims)) return undefined;
  if (Object.hasOwn(claims, path)) return claims[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const found = Object.hasOwn(claims, head) ? claimAt(claims[head], path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** One role or several, as a list or separated by spaces. */
function toRoles(claim: unknown): readonly string[] {
  const roles = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return roles.filter((role): role is string => typeof role === 'string' && role !== '');
}
