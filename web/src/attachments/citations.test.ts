import { describe, expect, it } from 'vitest';
import { resolveCitations } from './citations.ts';

const source = (name: string) => ({ title: name, data: 'A passage.', reference_url: `files/b/${name}` });
const picture = { title: 'Picture', type: 'image/png', data: 'AAAA' };
const [a, b, c] = [source('a.md'), source('b.md'), source('c.md')];

describe('resolveCitations', () => {
  it.each<[string, readonly object[], readonly (readonly [number, number])[]]>([
    ['One source [1].', [a], [[1, 0]]],
    [
      'Only [3] and [7] are cited.',
      [a, b],
      [
        [3, 0],
        [7, 1],
      ],
    ],
    [
      'In any order: [7], [3], [7].',
      [a, b],
      [
        [7, 1],
        [3, 0],
      ],
    ],
    ['After a picture [2].', [picture, a], [[2, 1]]],
    [
      'In a list [1, 3] and a range [4–5].',
      [a, b, c],
      [
        [1, 0],
        [3, 1],
        [4, 2],
      ],
    ],
    [
      'In other brackets 【2】, 【4:0†source】.',
      [a, b],
      [
        [2, 0],
        [4, 1],
      ],
    ],
    ['From a complete list [2].', [a, b, c], [[2, 1]]],
    ['By number in the title [9].', [source('[4] a.md'), source('[9] b.md'), source('[9] c.md')], [[9, 1]]],
    ['More numbers than attachments [1] [99].', [a], [[1, 0]]],
  ])('resolves the citations in %j', (text, attachments, indexByNumber) => {
    expect([...resolveCitations(text, attachments)]).toEqual(indexByNumber);
  });

  it.each([
    '`list[1]` and\n```js\nlist[1]\n```',
    'In the year [2024] or 【2024】, of [0], [-1], [1.5], [1e3] and [].',
    'No numbers.',
  ])('ignores %j', (text) => {
    expect(resolveCitations(text, [a]).size).toBe(0);
  });

  it('returns no sources if no attachment has a reference', () => {
    expect(resolveCitations('The first [1].', [picture]).size).toBe(0);
    expect(resolveCitations('The first [1].', []).size).toBe(0);
  });

  it('is fast for unclosed marks', () => {
    const startedMs = performance.now();
    resolveCitations(['[1,', '[1 ', '`', '【1', `[1${' '.repeat(1000)}`].map((mark) => mark.repeat(100_001)).join(''), [a]);
    expect(performance.now() - startedMs).toBeLessThan(30_000);
  });
});
