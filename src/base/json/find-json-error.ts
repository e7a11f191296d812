import { findStringEnd } from '../text/string-end.ts';

const space = /[ \t\n\r]*/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const control = /[\u0000-\u001f]/;

/** Returns line and column, starting at 1, of the first invalid character. The result is meaningless for valid JSON. */
export function findJsonError(text: string): { readonly line: number; readonly column: number } {
  const errorIndex = new Reader(text).readToError();
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < errorIndex; at = text.indexOf('\n', start)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: errorIndex - start + 1 };
}

type ExpectedToken = 'value' | 'value or ]' | 'key or }' | 'key' | 'colon' | 'comma or end' | 'nothing';

class Reader {
  readonly #text: string;
  /** Closing characters of the open objects and arrays. */
  readonly #openEnds: ('}' | ']')[] = [];
  #expected: ExpectedToken = 'value';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readToError(): number {
    let char: string | undefined;
    do {
      this.#at = skip(space, this.#text, this.#at);
      char = this.#text[this.#at];
    } while (char !== undefined && this.#accept(char));
    return this.#at;
  }

  get #acceptsValue(): boolean {
    return this.#expected.startsWith('value');
  }

  #accept(char: string): boolean {
    if (char === '"') return this.#acceptString();
    if (char === '{' || char === '[') return this.#open(char);
    if (char === '}' || char === ']') return this.#close(char);
    if (char === ':') return this.#expected === 'colon' && this.#advance(1, 'value');
    if (char === ',')
      return this.#expected === 'comma or end' && this.#advance(1, this.#openEnds.at(-1) === '}' ? 'key' : 'value');
    const length = this.#acceptsValue ? skip(scalar, this.#text, this.#at) - this.#at : 0;
    return length > 0 && this.#advance(length, this.#getExpectedAfterValue());
  }

  #acceptString(): boolean {
    const isKey = this.#expected.startsWith('key');
    if (!isKey && !this.#acceptsValue) return false;
    const quoted = this.#text.slice(this.#at, findStringEnd(this.#text, this.#at + 1) + 1);
    const errorOffset = findStringError(quoted);
    this.#at += errorOffset ?? 0;
    return errorOffset === undefined && this.#advance(quoted.length, isKey ? 'colon' : this.#getExpectedAfterValue());
  }

  #open(char: '{' | '['): boolean {
    if (!this.#acceptsValue) return false;
    this.#openEnds.push(char === '{' ? '}' : ']');
    return this.#advance(1, char === '{' ? 'key or }' : 'value or ]');
  }

  #close(char: '}' | ']'): boolean {
    if (char !== this.#openEnds.at(-1) || !(this.#expected === 'comma or end' || this.#expected.endsWith(char))) return false;
    this.#openEnds.pop();
    return this.#advance(1, this.#getExpectedAfterValue());
  }

  #getExpectedAfterValue(): ExpectedToken {
    return this.#openEnds.length === 0 ? 'nothing' : 'comma or end';
  }

  #advance(length: number, expected: ExpectedToken): true {
    this.#at += length;
    this.#expected = expected;
    return true;
  }
}

/** Returns the index after the match of a sticky pattern, or `at` if it does not match. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Returns the index of the first error in a string, which may lack its closing quote. */
function findStringError(quoted: string): number | undefined {
  const positions = [quoted.search(control), findBadEscape(quoted)].filter((at) => at !== -1);
  if (positions.length > 0) return Math.min(...positions);
  const isClosed = quoted.length > 1 && findStringEnd(quoted, 1) === quoted.length - 1;
  return isClosed ? undefined : quoted.length;
}

function findBadEscape(quoted: string): number {
  let at = quoted.indexOf('\\');
  while (at !== -1 && skip(escaped, quoted, at) > at) at = quoted.indexOf('\\', at + 2);
  return at;
}
