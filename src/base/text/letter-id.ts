import { randomFillSync } from 'node:crypto';
import { systemClock } from '../time/clock.ts';

/** Format of an ID from `createLetterIds`. */
export const letterIdPattern = /^[a-p]{8}(-[a-p]{4}){3}-[a-p]{12}$/;
/** Number of letters of the time, which is enough until the year 10,889. */
const timeLetters = 12;
const randomBytes = 10;
/** Number of IDs for each read of random bytes. */
const idsPerPool = 128;
/** Indexes of random bytes that follow a dash, as in a UUID. */
const dashBefore: ReadonlySet<number> = new Set([0, 2, 4]);
const firstLetter = 97;
/** Each byte value as two letters. */
const letters = Array.from({ length: 256 }, (_, byte) => toLetters(byte));

/** Returns a byte as two letters from `a` to `p`. */
export function toLetters(byte: number): string {
  return String.fromCharCode(firstLetter + (byte >> 4), firstLetter + (byte & 15));
}

/**
 * Returns a generator of IDs with the time in milliseconds and 80 random bits. Databases write IDs that ascend with the time several
 * times as fast as random ones. The IDs consist of letters and dashes only, because some clients search error texts for numbers
 * such as 429 and would mistake digits of an ID for a status.
 */
export function createLetterIds(nowMs = systemClock.epochMs): () => string {
  const pool = Buffer.alloc(randomBytes * idsPerPool);
  let at = pool.length;
  let timeMs: number | undefined;
  let time = '';
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    const newTimeMs = nowMs();
    if (newTimeMs !== timeMs) {
      timeMs = newTimeMs;
      time = formatTime(newTimeMs);
    }
    let id = time;
    for (let index = 0; index < randomBytes; index += 1) {
      if (dashBefore.has(index)) id += '-';
      id += letters[pool[at + index] as number];
    }
    at += randomBytes;
    return id;
  };
}

/** Returns the time as letters with a dash. Later times sort after earlier ones. */
function formatTime(ms: number): string {
  const text = Math.floor(ms)
    .toString(16)
    .padStart(timeLetters, '0')
    .replace(/./g, (digit) => String.fromCharCode(firstLetter + Number.parseInt(digit, 16)));
  return `${text.slice(0, 8)}-${text.slice(8)}`;
}
