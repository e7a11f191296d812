import { describe, expect, it } from 'vitest';
import { GrowingBlocks } from './growing-blocks.ts';
import { toBlocks } from './lexer.ts';

const text = [
  '# Title\n\nA *text* with $x$ and [a link](https://example.com).\n\n',
  '- one\n- two\n\n- three\n\n> quoted\n> twice\n\n',
  '```ts\nconst a = 1;\n\n\nconst b = 2;\n```\n\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n\nSetext\n------\n\n$$\nx^2\n$$\n\n1. first\n\n   more\n2. second\n',
].join('');
const shapeOf = (tokens: readonly { type: string; raw: string }[]) =>
  tokens.filter(({ type }) => type !== 'space').map(({ type, raw }) => [type, raw.trim()]);

describe('the blocks of a text that grows', () => {
  it('are those of the whole text, however it is cut', () => {
    for (const step of [1, 3, 7, 40]) {
      const growing = new GrowingBlocks();
      for (let at = step; at < text.length; at += step) growing.read(text.slice(0, at), true);
      expect(shapeOf(growing.read(text, false))).toEqual(shapeOf(toBlocks(text)));
    }
  });

  it('keep their identity once another has begun', () => {
    const growing = new GrowingBlocks();
    const [first] = growing.read('One.\n\nTwo', true);
    expect(growing.read('One.\n\nTwo and more', true)[0]).toBe(first);
  });

  it('begin anew where the text is another', () => {
    const growing = new GrowingBlocks();
    growing.read('One.\n\nTwo.\n\nThree.', true);
    expect(shapeOf(growing.read('Other.', true))).toEqual([['paragraph', 'Other.']]);
  });

  it('know links that are defined later, once the text is whole', () => {
    const [paragraph] = new GrowingBlocks().read('See [this][r].\n\n[r]: https://example.com\n', false);
    expect(JSON.stringify(paragraph)).toContain('"href":"https://example.com"');
  });
});

describe('formulas', () => {
  it.each([
    ['$x$', 'mathText'],
    ['\\(x\\)', 'mathText'],
    ['$$x$$ in a text', 'mathText'],
  ])('%s is one', (source, type) => {
    expect(JSON.stringify(toBlocks(`So ${source} is`))).toContain(`"type":"${type}"`);
  });

  it.each(['$5 and $6', 'a $ b $ c', '`$x$`', '\\$x\\$'])('%s is none', (source) => {
    expect(JSON.stringify(toBlocks(source))).not.toContain('math');
  });

  it.each(['$'.repeat(20_000), '\\('.repeat(20_000), `$${'a'.repeat(50_000)}`, `$$${'\\a'.repeat(30_000)}`])(
    'of hostile length are read in bounded time',
    (source) => {
      const began = performance.now();
      toBlocks(source.slice(0, 60_000));
      expect(performance.now() - began).toBeLessThan(5000);
    },
  );
});
