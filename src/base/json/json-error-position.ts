import { stringEnd } from '../text/string-end.ts';

const space = /[ \t\n\r]*/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const control = /[\u0000-\u001f]/;

/** Where a text stops being JSON: the line and the column, from 1, of the first char that cannot stand there. Meaningless for a text that is JSON. */
export function jsonFaultAt(text: string): { readonly line: number; readonly column: number } {
  const fault = new Reader(text).readToFault();
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < fault; at = text.indexOf('\n', start)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: fault - start + 1 };
}

type Expected = 'value' | 'value or ]' | 'key or }' | 'key' | 'colon' | 'comma or end' | 'nothing';

class Reader {
  readonly #text: string;
  /** What closes each object and list that is open. */
  readonly #open: ('}' | ']')[] = [];
  #expected: Expected = 'value';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readToFault(): number {
    let char: string | undefined;
    do {
      this.#at = skip(space, this.#text, this.#at);
      char = this.#text[this.#at];
    } while (char !== undefined && this.#takes(char));
    return this.#at;
  }

  get #takesValue(): boolean {
    return this.#expected.startsWith('value');
  }

  #takes(char: string): boolean {
    if (char === '"') return this.#takesString();
    if (char === '{' || char === '[') return this.#opens(char);
    if (char === '}' || char === ']') return this.#closes(char);
    if (char === ':') return this.#expected === 'colon' && this.#goesOn(1, 'value');
    if (char === ',') return this.#expected === 'comma or end' && this.#goesOn(1, this.#open.at(-1) === '}' ? 'key' : 'value');
    const length = this.#takesValue ? skip(scalar, this.#text, this.#at) - this.#at : 0;
    return length > 0 && this.#goesOn(length, this.#afterValue());
  }

  #takesString(): boolean {
    const isKey = this.#expected.startsWith('key');
    if (!isKey && !this.#takesValue) return false;
    const written = this.#text.slice(this.#at, stringEnd(this.#text, this.#at + 1) + 1);
    const fault = faultInString(written);
    this.#at += fault ?? 0;
    return fault === undefined && this.#goesOn(written.length, isKey ? 'colon' : this.#afterValue());
  }

  #opens(char: '{' | '['): boolean {
    if (!this.#takesValue) return false;
    this.#open.push(char === '{' ? '}' : ']');
    return this.#goesOn(1, char === '{' ? 'key or }' : 'value or ]');
  }

  #closes(char: '}' | ']'): boolean {
    if (char !== this.#open.at(-1) || !(this.#expected === 'comma or end' || this.#expected.endsWith(char))) return false;
    this.#open.pop();
    return this.#goesOn(1, this.#afterValue());
  }

  #afterValue(): Expected {
    return this.#open.length === 0 ? 'nothing' : 'comma or end';
  }

  #goesOn(length: number, expected: Expected): true {
    this.#at += length;
    this.#expected = expected;
    return true;
  }
}

/** The place behind what a sticky pattern takes there. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Within a string, which may lack its end. */
function faultInString(written: string): number | undefined {
  const found = [written.search(control), badEscapeIn(written)].filter((at) => at !== -1);
  if (found.length > 0) return Math.min(...found);
  const isWhole = written.length > 1 && stringEnd(written, 1) === written.length - 1;
  return isWhole ? undefined : written.length;
}

function badEscapeIn(written: string): number {
  let at = written.indexOf('\\');
  while (at !== -1 && skip(escaped, written, at) > at) at = written.indexOf('\\', at + 2);
  return at;
}
