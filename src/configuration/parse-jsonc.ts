import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import type { JsonObject } from '#base/json/json.ts';
import type { ParsedText, TextError } from './parsed-text.ts';

const messages: ReadonlyMap<string, string> = new Map([
  ['InvalidSymbol', 'this is not a JSON value: keys and strings need double quotes'],
  ['PropertyNameExpected', 'a key in double quotes is expected here'],
  ['ValueExpected', 'a value is expected here'],
  ['ColonExpected', 'a colon is expected here'],
  ['CommaExpected', 'a comma is expected here'],
  ['CloseBraceExpected', 'a closing brace is expected here'],
  ['CloseBracketExpected', 'a closing bracket is expected here'],
  ['EndOfFileExpected', 'the end of the file is expected here'],
  ['UnexpectedEndOfComment', 'this comment is not closed'],
  ['UnexpectedEndOfString', 'this string is not closed'],
  ['UnexpectedEndOfNumber', 'this number is incomplete'],
  ['InvalidNumberFormat', 'this is not a JSON number'],
  ['InvalidUnicode', 'this is not a \\u escape with four hexadecimal digits'],
  ['InvalidEscapeCharacter', 'this escape is not valid in JSON'],
  ['InvalidCharacter', 'this character must be escaped'],
]);

/**
 * Parses JSON with comments and trailing commas. The value is undefined for an empty text. Returns all duplicate keys, but only the
 * first syntax error, because later syntax errors follow from it.
 */
export function parseJsonc(text: string): ParsedText {
  const builder = new ValueBuilder();
  const syntaxErrors: TextError[] = [];
  visit(
    text,
    {
      onObjectBegin: () => builder.open(Object.create(null)),
      onObjectEnd: () => builder.close(),
      onObjectProperty: (key, _offset, _length, line, character) =>
        builder.startProperty(key, { line: line + 1, column: character + 1 }),
      onArrayBegin: () => builder.open([]),
      onArrayEnd: () => builder.close(),
      onLiteralValue: (value) => builder.put(value),
      onError: (code, _offset, _length, line, character) => {
        syntaxErrors.push({ line: line + 1, column: character + 1, message: getMessage(code) });
      },
    },
    { allowTrailingComma: true, allowEmptyContent: true },
  );
  const errors = [...syntaxErrors.slice(0, 1), ...builder.duplicateKeyErrors];
  return errors.length === 0 ? { value: builder.value } : { errors };
}

function getMessage(code: ParseErrorCode): string {
  return messages.get(printParseErrorCode(code)) ?? 'this is not JSON';
}

/** Builds a value from parser events. */
class ValueBuilder {
  value: unknown;
  readonly duplicateKeyErrors: TextError[] = [];
  readonly #open: (JsonObject | unknown[])[] = [];
  #key = '';

  open(container: JsonObject | unknown[]): void {
    this.put(container);
    this.#open.push(container);
  }

  close(): void {
    this.#open.pop();
  }

  startProperty(key: string, location: { line: number; column: number }): void {
    const object = this.#open.at(-1);
    if (object !== undefined && Object.hasOwn(object, key)) {
      this.duplicateKeyErrors.push({ ...location, message: 'this key is a duplicate' });
    }
    this.#key = key;
  }

  put(value: unknown): void {
    const container = this.#open.at(-1);
    if (container === undefined) this.value = value;
    else if (Array.isArray(container)) container.push(value);
    else container[this.#key] = value;
  }
}
