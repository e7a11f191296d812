const backslash = 92;

/** Where the JSON string that goes on here is closed; the end of the text if it is not. */
export function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (at - before) % 2 === 0;
}
