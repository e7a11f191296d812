/** Which bytes may stand in the name of a header field (RFC 9110, 5.6.2), and which in its value: for what is sent and what is received. */
const inName = tableOf(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/);
const inValue = tableOf(/[\t -~\x80-\xff]/);

/** Where the name of a field that begins at `from` ends. */
export function nameEnd(text: string, from: number): number {
  return endOf(inName, text, from);
}

/** Where the value of a field that begins at `from` ends: at a line end, or at what may not be there. */
export function valueEnd(text: string, from: number): number {
  return endOf(inValue, text, from);
}

function endOf(table: Uint8Array, text: string, from: number): number {
  let at = from;
  while (at < text.length && table[text.charCodeAt(at)] === 1) at++;
  return at;
}

function tableOf(chars: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (chars.test(String.fromCharCode(code)) ? 1 : 0));
}
