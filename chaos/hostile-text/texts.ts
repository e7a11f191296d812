import type { Random } from '../random.ts';

/** Text that slows down a regular expression, a parser, or a copy in a loop. */
interface HostileText {
  readonly name: string;
  /** Returns about `length` characters. */
  readonly build: (length: number) => string;
}

/** The hostile text of one input and the size limits of the input. */
export interface DrawnText extends HostileText {
  /** Returns the number of items to build: `count` for a large input, a small number for other inputs. */
  readonly limitCount: (count: number) => number;
}

/** Small inputs are enough to show exponential time. Large inputs show quadratic time and take 50 times as long. */
const small = { maxLength: 2_000, maxCount: 30 };

const repeated = (unit: string, end = '', start = ''): HostileText['build'] => {
  return (length) => start + unit.repeat(Math.max(1, Math.ceil(length / unit.length))) + end;
};

const listNumbers = (count: number): [string, number][] => Array.from({ length: count }, (_, index) => [`k${index}`, index]);

/** Each text targets one kind of code: restarting searches, nested quantifiers, splitting, decoding, or normalization. */
const hostileTexts: readonly HostileText[] = [
  { name: 'one letter', build: repeated('a') },
  { name: 'digits, then a letter', build: repeated('1', 'th?', 'What is ') },
  { name: 'dots and question marks', build: repeated('.a?') },
  { name: 'dots and fragments', build: repeated('.pdf#', '\n', 'https://x.test/a') },
  { name: 'line breaks', build: repeated('\n', 'x') },
  { name: 'CR LF', build: repeated('\r\n', 'x') },
  { name: 'a fence and line breaks', build: repeated('\n', 'x', '```json') },
  { name: 'fences', build: repeated('```') },
  { name: 'spaces, then a letter', build: repeated(' ', 'x', 'x') },
  { name: 'tabs and spaces', build: repeated('\t ', '=') },
  { name: 'quotation marks', build: repeated('"') },
  { name: 'escaped quotation marks', build: repeated(';a="\\"') },
  { name: 'backslashes', build: repeated('\\', '"') },
  { name: 'opening brackets', build: repeated('[') },
  { name: 'nested JSON', build: repeated('{"a":[', '') },
  { name: 'citation marks', build: repeated('[1, 2-', ']') },
  { name: 'citations', build: repeated('[1]') },
  { name: 'placeholders', build: repeated('[EMAIL_') },
  { name: 'Markdown links', build: repeated('[a](', ')') },
  { name: 'emphasis', build: repeated('*_') },
  { name: 'table rows', build: repeated('|a|\n|-|\n') },
  { name: 'HTML tags', build: repeated('<a href=') },
  { name: 'HTML comments', build: repeated('<!--') },
  { name: 'entities', build: repeated('&amp') },
  { name: 'percent signs', build: repeated('%25') },
  { name: 'path segments', build: repeated('a/../') },
  { name: 'file references', build: repeated('/v1/files/', '\n') },
  { name: 'data URLs', build: repeated('data:,', '') },
  { name: 'a data URL', build: repeated('A', '=', 'data:image/png;base64,') },
  { name: 'tokens', build: repeated('eyJaaaa-') },
  { name: 'tokens with dots', build: repeated('eyJaaaa.') },
  { name: 'e-mail addresses', build: repeated('a.a@a-') },
  { name: 'numbers with separators', build: repeated('1,1.1', ' max') },
  { name: 'exponents', build: repeated('1e1') },
  { name: 'dates', build: repeated('2024-02-') },
  { name: 'one long word with hyphens', build: repeated('xx-') },
  { name: 'capitals with slashes', build: repeated('AB/') },
  { name: 'combining marks', build: repeated('\u0301', '', 'e') },
  { name: 'ligatures', build: repeated('ﷺ') },
  { name: 'CJK', build: repeated('的') },
  { name: 'emoji sequences', build: repeated('👩‍👩‍👧') },
  { name: 'lone surrogates', build: repeated('\ud800') },
  { name: 'optional groups', build: repeated('(?:x?){9}') },
  { name: 'a pattern with repetitions', build: repeated('x{1000}') },
  { name: 'variables', build: repeated('${A', '}') },
  { name: 'nested quantifiers', build: repeated('(a*)*', '$', '^') },
  { name: 'balanced brackets', build: (length) => '['.repeat(length / 2) + ']'.repeat(length / 2) },
  { name: 'an argument of one long text', build: repeated('a', '!"}', '{"city":"') },
  { name: 'an object of many keys', build: (length) => JSON.stringify(Object.fromEntries(listNumbers(length / 10))) },
  { name: 'fields of events', build: repeated('data: \n', '\n\n', '\n') },
  { name: 'carriage returns', build: repeated('\r') },
  { name: 'NUL', build: repeated('\0') },
  { name: 'byte order marks', build: repeated('\ufeff') },
  { name: 'directions', build: repeated('\u202e\u2066') },
  { name: 'pointers', build: repeated('/~1~0', '', '#/$defs') },
  { name: 'hosts', build: repeated('a.', '', 'https://') },
  { name: 'media types', build: repeated(';q=0', '', 'text/html') },
  { name: 'comma lists', build: repeated(' ,') },
  { name: 'ranges', build: repeated('0-,', '', 'bytes=') },
  { name: 'entity tags', build: repeated('W/"') },
  { name: 'key=value pairs', build: repeated('a=1,') },
];

/** Draws a hostile text for an input. */
export function drawText(random: Random, isLarge: boolean): DrawnText {
  const { name, build } = random.pick(hostileTexts);
  if (isLarge) return { name, build, limitCount: (count) => count };
  return {
    name,
    build: (length) => build(Math.min(length, small.maxLength)),
    limitCount: (count) => Math.min(count, small.maxCount),
  };
}
