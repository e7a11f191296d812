import { defaultJsonBounds, isJsonObject, tryParseJson } from '#base/json/json.ts';

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const openBrace = '{'.charCodeAt(0);
const closeBrace = '}'.charCodeAt(0);
const openBracket = '['.charCodeAt(0);
const closeBracket = ']'.charCodeAt(0);

/**
 * Arguments of a tool call as they come. Each piece is looked at once, for where the object ends, and the text is parsed
 * once, when it has: a parse for every piece that might be the last takes the square of their length.
 */
export class CallArguments {
  #text = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasEnded = false;
  /** Whether there is something before the object or after it. */
  #isBroken = false;
  #isObject: boolean | undefined;

  add(piece: string): void {
    this.#text += piece;
    for (let at = 0; at < piece.length && !this.#isBroken; at += 1) this.#consume(piece.charCodeAt(at));
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  /** Whether they are a JSON object now. */
  get isWhole(): boolean {
    if (!this.#hasEnded || this.#isBroken) return false;
    this.#isObject ??= isObjectText(this.#text);
    return this.#isObject;
  }

  #consume(code: number): void {
    if (this.#isInString) this.#takeInString(code);
    else if (isSpace(code)) return;
    else if (this.#hasEnded || (this.#depth === 0 && code !== openBrace)) this.#isBroken = true;
    else if (code === quote) this.#isInString = true;
    else if (code === openBrace || code === openBracket) this.#depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      this.#depth -= 1;
      this.#hasEnded = this.#depth === 0;
    }
  }

  #takeInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}

/** White space of JSON: tab, line feed, carriage return, space. */
function isSpace(code: number): boolean {
  return code === 9 || code === 10 || code === 13 || code === 32;
}

/** Keys are only looked at here, so any will do. */
function isObjectText(text: string): boolean {
  return isJsonObject(tryParseJson(text, { ...defaultJsonBounds, allowsProto: true }));
}
