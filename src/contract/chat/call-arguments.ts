import { defaultJsonBounds, isJsonObject, tryParseJson } from '#base/json/json.ts';

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const openBrace = '{'.charCodeAt(0);
const closeBrace = '}'.charCodeAt(0);
const openBracket = '['.charCodeAt(0);
const closeBracket = ']'.charCodeAt(0);

/**
 * Arguments of a tool call that arrive in pieces. Each piece is scanned once to find the end of the object, and the text is
 * parsed once at that end. Parsing after each piece would take quadratic time.
 */
export class CallArguments {
  #text = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasEnded = false;
  /** Whether there is text other than white space before or after the object. */
  #isBroken = false;
  #isObject: boolean | undefined;

  add(piece: string): void {
    this.#text += piece;
    for (let index = 0; index < piece.length && !this.#isBroken; index += 1) this.#consume(piece.charCodeAt(index));
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  /** Whether the arguments are a complete JSON object. */
  get isComplete(): boolean {
    if (!this.#hasEnded || this.#isBroken) return false;
    this.#isObject ??= isObjectText(this.#text);
    return this.#isObject;
  }

  #consume(code: number): void {
    if (this.#isInString) this.#consumeInString(code);
    else if (isSpace(code)) return;
    else if (this.#hasEnded || (this.#depth === 0 && code !== openBrace)) this.#isBroken = true;
    else if (code === quote) this.#isInString = true;
    else if (code === openBrace || code === openBracket) this.#depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      this.#depth -= 1;
      this.#hasEnded = this.#depth === 0;
    }
  }

  #consumeInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}

/** Returns whether a character is JSON white space: tab, line feed, carriage return, or space. */
function isSpace(code: number): boolean {
  return code === 9 || code === 10 || code === 13 || code === 32;
}

/** The result is not used, so `__proto__` keys are harmless here. */
function isObjectText(text: string): boolean {
  return isJsonObject(tryParseJson(text, { ...defaultJsonBounds, allowsProto: true }));
}
