import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json/json.ts';
import type { StoredKey } from './key-store.ts';

const userPrefix = 'parley_u_';
const runtimePrefix = 'parley_k_';
const userKeyPattern = /^parley_u_[\w-]{43}$/;
/** Number of characters after `parley_u_` or `parley_k_` that lists of keys show. */
const visibleChars = 5;

type CreatedKey = Pick<StoredKey, 'digest' | 'prefix'> & { readonly key: string };

/** Returns whether the credentials have the form of a user's key. No other accepted credentials have that form. */
export function isUserKey(credentials: string): boolean {
  return userKeyPattern.test(credentials);
}

/** Creates a key of a user from 32 random bytes in base64url. */
export function createUserKey(random: string): CreatedKey {
  return createKey(userPrefix, random);
}

/** Creates a key of a `keys` entry at run time from 32 random bytes in base64url. */
export function createRuntimeKey(random: string): CreatedKey {
  return createKey(runtimePrefix, random);
}

function createKey(keyPrefix: string, random: string): CreatedKey {
  const key = `${keyPrefix}${random}`;
  return { key, digest: hashKey(key), prefix: key.slice(0, keyPrefix.length + visibleChars) };
}

/** Returns the SHA-256 digest in hexadecimal. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Returns the properties of a key that its user and administrators see, without the secret. */
export function toVisibleKey(key: StoredKey): JsonObject {
  const { id, name, prefix, deployments, allowedIps } = key;
  return {
    id,
    name,
    prefix,
    createdAt: key.createdAtMs,
    lastUsedAt: key.lastUsedAtMs,
    expiresAt: key.expiresAtMs,
    ...(deployments !== null && { deployments }),
    ...(allowedIps !== null && { allowedIps }),
  };
}
