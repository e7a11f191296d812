const maxKeyBytes = 1280;

/** Whether every store can hold a text and give it back as it is: no NUL, no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Whether a text can be the key of something stored: a user subject, an id, a bucket, a path. Then it is at most 1280 bytes
 * of UTF-8. Nothing is ever stored under another.
 */
export function isStorableKey(text: string): boolean {
  return text.length <= maxKeyBytes && isStorableText(text) && Buffer.byteLength(text) <= maxKeyBytes;
}
