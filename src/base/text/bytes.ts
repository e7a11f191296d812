/** Whether there are control characters. Line breaks between tokens count too: indented JSON is parsed as a whole. */
export function hasControls(bytes: Buffer): boolean {
  const skipped = Math.min((4 - (bytes.byteOffset % 4)) % 4, bytes.length);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + skipped, (bytes.length - skipped) >> 2);
  const blockWords = 1024;
  for (let block = 0; block < words.length; block += blockWords) {
    const end = Math.min(block + blockWords, words.length);
    let borrows = 0;
    for (let at = block; at < end; at += 1) {
      const word = words[at] as number;
      // A byte below 32 borrows, and has no highest bit of its own.
      borrows |= (word - 0x20202020) & ~word & 0x80808080;
    }
    if (borrows !== 0) return true;
  }
  for (let at = 0; at < skipped; at += 1) if ((bytes[at] as number) < 0x20) return true;
  for (let at = skipped + words.length * 4; at < bytes.length; at += 1) if ((bytes[at] as number) < 0x20) return true;
  return false;
}

/** The UTF-8 bytes of a text, one char a byte: what sockets here read and write. Whether all is ASCII is told by the length: a search for other chars takes five times as long. */
export function toLatin1(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The text whose UTF-8 bytes these chars are. Bytes that are not UTF-8 become U+FFFD. */
export function fromLatin1(bytes: string): string {
  return Buffer.byteLength(bytes) === bytes.length ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/**
 * Gives the memory of bytes back at once, if nothing else is in it. The collector finds it late, since it sees of a large buffer only
 * the handle; with bodies of 200 kB it works twice as hard then.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength && !buffer.detached) buffer.transfer(0);
}
