import { hash } from 'node:crypto';
import type { JsonObject } from '#base/json/json.ts';
import type { StoredKey } from './key-store.ts';

const beginning = 'parley_u_';
const form = /^parley_u_[\w-]{43}$/;
const shownChars = beginning.length + 5;

/** Whether a text has the form of a key that a user made; nothing else that is taken for credentials has it. */
export function isMadeKey(credentials: string): boolean {
  return form.test(credentials);
}

/** A new key out of 32 random bytes in base64url, and what is kept of it. */
export function toMadeKey(random: string): { readonly key: string; readonly digest: string; readonly prefix: string } {
  const key = `${beginning}${random}`;
  return { key, digest: digestOfKey(key), prefix: key.slice(0, shownChars) };
}

/** SHA-256, in hexadecimal. */
export function digestOfKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** A key as its user and administrators see it, without the key itself. */
export function toShownKey(key: StoredKey): JsonObject {
  const { id, name, prefix, createdAtMs: createdAt, lastUsedAtMs: lastUsedAt, expiresAtMs: expiresAt } = key;
  const { deployments, allowedIps } = key;
  return {
    ...{ id, name, prefix, createdAt, lastUsedAt, expiresAt },
    ...(deployments !== null && { deployments }),
    ...(allowedIps !== null && { allowedIps }),
  };
}
