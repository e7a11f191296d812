import { randomBytes } from 'node:crypto';

/** Returns a random secret of 256 bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
