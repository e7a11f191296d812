import { randomFillSync } from 'node:crypto';

/** Format of an id from `createLetterIds`. */
export const letterId = /^[a-p]{8}(-[a-p]{4}){3}-[a-p]{12}$/;
const idBytes = 16;
/** Number of ids that are made from one read of random bytes. */
const idsPerPool = 128;
/** Byte indexes after which a dash follows, as in a UUID. */
const dashAfter: ReadonlySet<number> = new Set([3, 5, 7, 9]);
const firstLetter = 97;
/** Each byte value as two letters from `a` to `p`. */
const letters = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(firstLetter + (byte >> 4), firstLetter + (byte & 15)),
);

/**
 * Returns a generator of ids with 128 random bits. The ids consist of letters and dashes only, because some clients search error
 * texts for numbers such as 429 and would mistake digits of an id for a status.
 */
export function createLetterIds(): () => string {
  const pool = Buffer.alloc(idBytes * idsPerPool);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    let id = '';
    for (let index = 0; index < idBytes; index += 1) {
      id += letters[pool[at + index] as number];
      if (dashAfter.has(index)) id += '-';
    }
    at += idBytes;
    return id;
  };
}
