/** Longer texts that are made of bytes at once lie outside of V8's heap: it finds out late that nobody needs them. */
const outsideBytes = 1_000_000;
/** Texts that are longer than this are rare, and would crowd the heap. */
const crowdingBytes = 4 * 1024 ** 2;
const sliceBytes = 512 * 1024;

/** The bytes as a text, one char a byte; within V8's heap unless they are many. */
export function latin1Of(bytes: Buffer): string {
  if (bytes.length <= outsideBytes || bytes.length > crowdingBytes) return bytes.toString('latin1');
  let text = '';
  for (let at = 0; at < bytes.length; at += sliceBytes) text += bytes.toString('latin1', at, at + sliceBytes);
  return text;
}

/** The UTF-8 bytes of a text, one char a byte: what sockets here read and write. */
export function toLatin1(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The text whose UTF-8 bytes these chars are. Bytes that are not UTF-8 become U+FFFD. */
export function fromLatin1(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A search for other chars takes five times as long. */
function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
