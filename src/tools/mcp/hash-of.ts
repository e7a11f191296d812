import { createHash } from 'node:crypto';

/** One hash of all parts together: a key that holds no secret, and from which no part can be left out. */
export function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
