/** The UTF-8 bytes of a text, one char a byte: what sockets here read and write. Whether all is ASCII is told by the length: a search for other chars takes five times as long. */
export function toLatin1(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The text whose UTF-8 bytes these chars are. Bytes that are not UTF-8 become U+FFFD. */
export function fromLatin1(bytes: string): string {
  return Buffer.byteLength(bytes) === bytes.length ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}
