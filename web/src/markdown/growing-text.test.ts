import { describe, expect, it } from 'vitest';
import { GrowingBlocks, Pace } from './growing-text.ts';
import { toBlocks } from './lexer.ts';

const text = [
  '# Title\n\nA *text* with $x$ and [a link](https://example.com).\n\n',
  '- one\n- two\n\n- three\n\n> quoted\n> twice\n\n',
  '```ts\nconst a = 1;\n\n\nconst b = 2;\n```\n\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n\nSetext\n------\n\n$$\nx^2\n$$\n\n1. first\n\n   more\n2. second\n',
].join('');
const getShape = (tokens: readonly { type: string; raw: string }[]) =>
  tokens.filter(({ type }) => type !== 'space').map(({ type, raw }) => [type, raw.trim()]);

describe('GrowingBlocks', () => {
  it('returns the blocks of the complete text for any split', () => {
    for (const step of [1, 3, 7, 40]) {
      const growing = new GrowingBlocks();
      for (let at = step; at < text.length; at += step) growing.parse(text.slice(0, at), true);
      expect(getShape(growing.parse(text, false))).toEqual(getShape(toBlocks(text)));
    }
  });

  it('keeps the identity of settled blocks', () => {
    const growing = new GrowingBlocks();
    const [first] = growing.parse('One.\n\nTwo', true);
    expect(growing.parse('One.\n\nTwo and more', true)[0]).toBe(first);
  });

  it('starts over if the text changes', () => {
    const growing = new GrowingBlocks();
    growing.parse('One.\n\nTwo.\n\nThree.', true);
    expect(getShape(growing.parse('Other.', true))).toEqual([['paragraph', 'Other.']]);
  });

  it('resolves links that are defined later when the text is complete', () => {
    const [paragraph] = new GrowingBlocks().parse('See [this][r].\n\n[r]: https://example.com\n', false);
    expect(JSON.stringify(paragraph)).toContain('"href":"https://example.com"');
  });
});

const long: readonly (readonly [string, string])[] = [
  ['table', `| a | b |\n|---|---|\n${'| *one* | two |\n'.repeat(3000)}\nBehind.`],
  ['list', `${'- an item\n  - and one in it\n'.repeat(2000)}\nBehind.`],
  ['loose list', `${'1. an item\n\n   and more\n\n'.repeat(2000)}Behind.`],
  ['block of code', `\`\`\`ts\n${'const a = `b`;\n'.repeat(3000)}\`\`\`\n\nBehind.`],
];

describe('one long growing block', () => {
  it.each(long)('is parsed about once with the same result: %s', (_, source) => {
    let chars = 0;
    const growing = new GrowingBlocks((part) => {
      chars += part.length;
      return toBlocks(part);
    });
    for (let index = 333; index < source.length; index += 333) growing.parse(source.slice(0, index), true);
    const blocks = growing.parse(source, false);
    expect(chars).toBeLessThan(4 * source.length);
    expect(getParts(blocks)).toEqual(getParts(toBlocks(source)));
  });

  it('ends with its text regardless of the following text', () => {
    const fenced = '~~~\ncode\n```\nmore\n~~~ \nBehind.';
    const items = '- one\n- two\n- three\n- four\n\n- five\n* other\n\n1. first\n2. second\n3. third\nlazy\n\nBehind.';
    const table = '| a |\n|---|\n| 1 |\n| 2 |\n| 3 |\n> quoted\n\n| not one |\n';
    for (const source of [fenced, items, table, `${items}\n${table}\n${fenced}`]) {
      const growing = new GrowingBlocks();
      for (let index = 1; index < source.length; index += 1) growing.parse(source.slice(0, index), true);
      expect(getParts(growing.parse(source, false))).toEqual(getParts(toBlocks(source)));
    }
  });
});

/** Returns each block with its rows, its items, or its text. */
function getParts(blocks: readonly object[]): readonly unknown[] {
  const entries = blocks as readonly {
    type: string;
    raw: string;
    text?: string;
    rows?: { text: string }[][];
    items?: object[];
  }[];
  return entries
    .filter(({ type }) => type !== 'space')
    .map(({ type, raw, text, rows, items }) => [
      type,
      raw.trim(),
      ...[text?.trim(), rows?.map((row) => row.map((cell) => cell.text)), JSON.stringify(items ?? [])],
    ]);
}

describe('formulas', () => {
  it.each([
    ['$x$', 'mathText'],
    ['\\(x\\)', 'mathText'],
    ['$$x$$ in a text', 'mathText'],
  ])('include %s', (source, type) => {
    expect(JSON.stringify(toBlocks(`So ${source} is`))).toContain(`"type":"${type}"`);
  });

  it.each(['$5 and $6', 'a $ b $ c', '`$x$`', '\\$x\\$'])('exclude %s', (source) => {
    expect(JSON.stringify(toBlocks(source))).not.toContain('math');
  });

  it.each(['$'.repeat(20_000), '\\('.repeat(20_000), `$${'a'.repeat(50_000)}`, `$$${'\\a'.repeat(30_000)}`])(
    'are parsed in bounded time even if they are hostile',
    (source) => {
      const startedMs = performance.now();
      toBlocks(source.slice(0, 60_000));
      expect(performance.now() - startedMs).toBeLessThan(30_000);
    },
  );
});

/** Returns the number of characters added in each of several frames of a given duration. */
function added(pace: Pace, frames: number, frameMs: number): readonly number[] {
  return Array.from({ length: frames }, (_, index) => pace.frame(index * frameMs, 3000, false));
}

it('adds more per frame while frames are in time, up to the waiting text', () => {
  expect(added(new Pace(), 9, 16)).toEqual([400, 0, 800, 0, 1600, 0, 3000, 0, 3000]);
});

it('adds less after a slow frame, and pauses for its duration', () => {
  const pace = new Pace();
  expect(pace.frame(0, 3000, false)).toBe(400);
  pace.frame(16, 3000, false);
  expect(pace.frame(32, 3000, false)).toBe(800);
  pace.frame(132, 3000, false);
  expect(pace.frame(232, 3000, false)).toBe(0);
  expect(pace.frame(431, 3000, false)).toBe(0);
  expect(pace.frame(432, 3000, false)).toBe(400);
});

it('does not grow after pieces that were small for lack of text', () => {
  const pace = new Pace();
  for (let index = 0; index < 20; index += 1) pace.frame(index * 16, 50, false);
  expect(pace.frame(20 * 16, 3000, false)).toBe(400);
});

it('adds more per frame if more text waits', () => {
  expect(new Pace().frame(0, 16_000, false)).toBe(2000);
  expect(new Pace().frame(0, 1_000_000, false)).toBe(8000);
});

it('adds complete text in large pieces', () => {
  expect(new Pace().frame(0, 1_000_000, true)).toBe(16_000);
  expect(new Pace().frame(0, 70, true)).toBe(70);
});
