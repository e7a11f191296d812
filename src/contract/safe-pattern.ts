import { RE2JS } from 're2js';
import { runWithin } from '#base/run-within.ts';

/** Why a text is no pattern. The message may be shown. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

const maxMs = 250;

/** A pattern whose time grows with the text alone. Gives whether it is found in a text; undefined if that takes too long. Throws PatternFault. */
export function compilePattern(pattern: string): (text: string) => boolean | undefined {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(pattern);
  } catch (thrown) {
    throw new PatternFault(thrown instanceof Error ? thrown.message.slice(0, 200) : 'it cannot be read');
  }
  return (text) => {
    try {
      return runWithin(maxMs, () => expression.matcher(text).find());
    } catch {
      return undefined;
    }
  };
}
