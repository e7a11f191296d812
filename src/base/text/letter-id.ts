import { randomFillSync } from 'node:crypto';

/** How an id of this kind looks. */
export const letterId = /^[a-p]{8}(-[a-p]{4}){3}-[a-p]{12}$/;
const idBytes = 16;
/** So many ids are made of one read of random bytes. */
const idsAtOnce = 128;
/** Dashes stand where a UUID has them. */
const dashAfter: ReadonlySet<number> = new Set([3, 5, 7, 9]);
const firstLetter = 97;
/** Each byte as two letters from `a` to `p`. */
const letters = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(firstLetter + (byte >> 4), firstLetter + (byte & 15)),
);

/**
 * Makes ids of 128 random bits in letters and dashes alone: some clients look for numbers such as 429 in the text of an
 * error, and take an id that has one by chance for a status.
 */
export function createLetterIds(): () => string {
  const pool = Buffer.alloc(idBytes * idsAtOnce);
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
