import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json/json.ts';
import type { StoredKey } from './key-store.ts';

const keyPrefix = 'parley_u_';
const form = /^parley_u_[\w-]{43}$/;
const visibleChars = keyPrefix.length + 5;

/** Whether a text has the form of a key that a user made; nothing else that is taken for credentials has it. */
export function isUserKey(credentials: string): boolean {
  return form.test(credentials);
}

/** A new key out of 32 random bytes in base64url, and what is kept of it. */
export function createUserKey(random: string): { readonly key: string; readonly digest: string; readonly prefix: string } {
  const key = `${keyPrefix}${random}`;
  return { key, digest: hashKey(key), prefix: key.slice(0, visibleChars) };
}

/** SHA-256, in hexadecimal. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** A key as its user and administrators see it, without the key itself. */
export function toVisibleKey(key: StoredKey): JsonObject {
  const { id, name, prefix, createdAtMs: createdAt, lastUsedAtMs: lastUsedAt, expiresAtMs: expiresAt } = key;
  const { deployments, allowedIps } = key;
  return {
    ...{ id, name, prefix, createdAt, lastUsedAt, expiresAt },
    ...(deployments !== null && { deployments }),
    ...(allowedIps !== null && { allowedIps }),
  };
}
