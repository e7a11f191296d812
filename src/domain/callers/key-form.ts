import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json/json.ts';
import type { StoredKey } from './key-store.ts';

const keyPrefix = 'parley_u_';
const userKeyPattern = /^parley_u_[\w-]{43}$/;
const visibleChars = keyPrefix.length + 5;

/** Returns whether the credentials have the form of a user's key. No other accepted credentials have that form. */
export function isUserKey(credentials: string): boolean {
  return userKeyPattern.test(credentials);
}

/** Creates a key from 32 random bytes in base64url, and returns it with its stored properties. */
export function createUserKey(random: string): { readonly key: string; readonly digest: string; readonly prefix: string } {
  const key = `${keyPrefix}${random}`;
  return { key, digest: hashKey(key), prefix: key.slice(0, visibleChars) };
}

const adminKeyPrefix = 'parley_k_';

/** Creates a key of an administrator from 32 random bytes in base64url, and returns it with its digest and its first characters. */
export function createAdminKey(random: string): { readonly key: string; readonly digest: string; readonly prefix: string } {
  const key = `${adminKeyPrefix}${random}`;
  return { key, digest: hashKey(key), prefix: key.slice(0, visibleChars) };
}

/** Returns the SHA-256 digest in hexadecimal. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Returns the properties of a key that its user and administrators see, without the secret. */
export function toVisibleKey(key: StoredKey): JsonObject {
  const { id, name, prefix, createdAtMs: createdAt, lastUsedAtMs: lastUsedAt, expiresAtMs: expiresAt } = key;
  const { deployments, allowedIps } = key;
  return {
    ...{ id, name, prefix, createdAt, lastUsedAt, expiresAt },
    ...(deployments !== null && { deployments }),
    ...(allowedIps !== null && { allowedIps }),
  };
}
