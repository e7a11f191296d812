import type { Secret } from '#base/secrets/secret.ts';

const shortest = 6;
const looksSecret: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, '$1 ***'],
  [/\b((?:api[-_]?key|key|token|secret|password|signature|authorization)["']?\s*[=:]\s*["']?)[^\s"'&,;}]{6,}/gi, '$1***'],
  // Pattern bound: linear. A slash ends the search, and each start has two of them.
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@:]*:[^\s/@]*@/gi, '$1***@'],
  [/\bsk-[\w-]{8,}/g, '***'],
  // Pattern bound: a start that does not match costs at most 1,024 characters.
  [/\beyJ[\w-]{4,1024}\.[\w-]{1,16384}\.[\w-]*/g, '***'],
];

/** Removes secrets from text for the log: known ones first, then what looks like one. A last safeguard: none should get here. */
export function redact(text: string, secrets: Iterable<Secret>): string {
  let left = text;
  for (const secret of secrets) {
    const value = secret.reveal();
    if (value.length >= shortest && left.includes(value)) left = left.replaceAll(value, '***');
  }
  for (const [form, shown] of looksSecret) left = left.replace(form, shown);
  return left;
}
