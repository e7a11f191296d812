/** Which bytes may stand in the name of a header field (RFC 9110, 5.6.2), and which in its value: for what is sent and what is received. */
export const [inName, inValue] = [tableOf(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/), tableOf(/[\t -~\x80-\xff]/)];

/** Where a run of such bytes that begins at `from` ends: at a line end, or at what may not be there. */
export function endOf(table: Uint8Array, text: string, from: number): number {
  let at = from;
  while (at < text.length && table[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** Whether a header field may have the name. */
export function isFieldName(name: string): boolean {
  return name !== '' && endOf(inName, name, 0) === name.length;
}

/** Whether a header field may have the value. */
export function isFieldValue(value: string): boolean {
  return endOf(inValue, value, 0) === value.length;
}

function tableOf(chars: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (chars.test(String.fromCharCode(code)) ? 1 : 0));
}
