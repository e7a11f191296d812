import { isJsonObject } from '#base/json/json.ts';
import { type Grant, type Permission, permissions, type RightsChange } from '#domain/callers/held-rights.ts';

/** The grants among what another node wrote. */
export function toGrants(value: unknown): readonly Grant[] {
  return Array.isArray(value) ? value.flatMap(toGrant) : [];
}

/** The change that another node tells of; undefined for anything else. */
export function toRightsChange(value: unknown): RightsChange | undefined {
  if (!isJsonObject(value)) return undefined;
  const { attached, grant, revoke } = value;
  if (Array.isArray(attached)) return { attached: attached.filter((each) => typeof each === 'string') };
  if (grant !== undefined) return { grant: toGrants(grant) };
  return revoke === undefined ? undefined : { revoke: toGrants(revoke) };
}

function toGrant(value: unknown): Grant[] {
  if (!isJsonObject(value)) return [];
  const { receiver, url, permissions: given } = value;
  if (typeof receiver !== 'string' || typeof url !== 'string' || !Array.isArray(given)) return [];
  return [{ receiver, url, permissions: given.filter(isPermission) }];
}

function isPermission(value: unknown): value is Permission {
  return permissions.some((each) => each === value);
}
