import { expect, it } from 'vitest';
import { toSpoken } from './to-spoken.ts';

it('splits sentences and omits citation marks and addresses', () => {
  const text = '# A *title*\n\nOne **strong** &amp; [linked](https://example.com) thing [1]. `Two`!\n\n> Quoted';
  expect(toSpoken(text, 'en')).toEqual(['A title', 'One strong & linked thing .', 'Two!', 'Quoted']);
});

it('omits code, display formulas, and rules', () => {
  expect(toSpoken('Before\n\n```js\nrun();\n```\n\n$$a+b$$\n\n---\n\nAfter', 'en')).toEqual(['Before', 'After']);
});

it('reads lists by item and tables by row', () => {
  const text = '- one\n- two\n  - inner\n\n| a | b |\n|---|---|\n| 1 | 2 |';
  expect(toSpoken(text, 'en')).toEqual(['one', 'two', 'inner', 'a, b', '1, 2']);
});
