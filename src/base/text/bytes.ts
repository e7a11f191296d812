/** Returns whether the bytes contain control characters. Line breaks between JSON tokens count too. */
export function hasControls(bytes: Buffer): boolean {
  const skipped = Math.min((4 - (bytes.byteOffset % 4)) % 4, bytes.length);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + skipped, (bytes.length - skipped) >> 2);
  const blockWords = 1024;
  for (let block = 0; block < words.length; block += blockWords) {
    const end = Math.min(block + blockWords, words.length);
    let borrows = 0;
    for (let at = block; at < end; at += 1) {
      const word = words[at] as number;
      // A byte below 32 borrows and does not have its own highest bit set.
      borrows |= (word - 0x20202020) & ~word & 0x80808080;
    }
    if (borrows !== 0) return true;
  }
  for (let index = 0; index < skipped; index += 1) if ((bytes[index] as number) < 0x20) return true;
  for (let at = skipped + words.length * 4; at < bytes.length; at += 1) if ((bytes[at] as number) < 0x20) return true;
  return false;
}

/**
 * Returns the UTF-8 bytes of a text as latin1, one character per byte. Sockets in this code read and write such text. Compares
 * lengths to detect ASCII, because a search for other characters takes five times as long.
 */
export function toLatin1(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes UTF-8 bytes that are stored as latin1 characters. Invalid UTF-8 becomes U+FFFD. */
export function fromLatin1(bytes: string): string {
  return Buffer.byteLength(bytes) === bytes.length ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/**
 * Frees the memory of the bytes immediately if they fill their buffer. The garbage collector frees large buffers late, because it
 * sees only the small handle. With bodies of 200 kB it would work twice as hard.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength && !buffer.detached) buffer.transfer(0);
}
