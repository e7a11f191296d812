/** Maximum length of a key in bytes of UTF-8. */
export const maxKeyBytes = 1280;

/** Returns whether every store preserves the text exactly. The text must have no NUL and no unpaired surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Returns whether a text can be the key of a stored item: a user subject, an ID, a bucket, or a path. A key has at most
 * {@link maxKeyBytes} bytes of UTF-8. Stores accept no other keys.
 */
export function isStorableKey(text: string): boolean {
  return text.length <= maxKeyBytes && isStorableText(text) && Buffer.byteLength(text) <= maxKeyBytes;
}
