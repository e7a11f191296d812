import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { chunkBlocks, estimateTokens, passageTokens, splitText } from './chunk-blocks.ts';
import type { Block } from './loader.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 3000 }),
  fc.lorem({ maxCount: 300 }),
  fc
    .array(fc.constantFrom('a', ' ', '\n', '.', '! ', '猫', '\u{1f600}', '3.5 '), { maxLength: 1500 })
    .map((parts) => parts.join('')),
);
const page = fc.option(fc.integer({ min: 1, max: 3 }));
const cells = fc.array(fc.string({ maxLength: 30 }), { minLength: 1, maxLength: 4 });
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({
    kind: fc.constant('heading' as const),
    level: fc.integer({ min: 1, max: 6 }),
    text: fc.lorem({ maxCount: 4 }),
    page,
  }),
  fc.record({ kind: fc.constant('text' as const), text, page }),
  fc.record({ kind: fc.constant('table' as const), header: cells, rows: fc.array(cells, { maxLength: 40 }), page }),
);

function removeSpace(parts: readonly string[]): string {
  return parts.join('').replace(/\s+/g, '');
}

/** Returns the texts of a block that must not be split. */
function listUnsplitTexts(input: Block): readonly string[] {
  if (input.kind === 'heading') return [input.text];
  return input.kind === 'text' ? splitText(input.text, passageTokens) : input.rows.flat();
}

describe('splitText', () => {
  it('loses only white space and returns pieces of bounded size', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 200 }), (input, maxTokens) => {
        const pieces = splitText(input, maxTokens);
        expect(removeSpace(pieces)).toBe(removeSpace([input]));
        for (const piece of pieces) {
          expect(estimateTokens(piece)).toBeLessThanOrEqual(maxTokens);
          expect(piece.trim()).not.toBe('');
          expect(piece.isWellFormed()).toBe(input.isWellFormed() || piece.isWellFormed());
        }
      }),
    );
  });

  it('splits between sentences if possible, and not within numbers', () => {
    expect(splitText('It weighs 3.5 kg. It is red. It sings.', 7)).toEqual(['It weighs 3.5 kg.', 'It is red. It sings.']);
    expect(splitText('一二三。四五六。七八九。', 8)).toEqual(['一二三。四五六。', '七八九。']);
  });

  it('splits a word only if the word itself is too long', () => {
    expect(splitText(`short ${'x'.repeat(50)} end`, 5)).toEqual(['short', 'x'.repeat(20), 'x'.repeat(20), 'x'.repeat(10), 'end']);
  });
});

describe('chunkBlocks', () => {
  it('keeps all texts, rows, and headings', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 20 }), (blocks) => {
        const passages = chunkBlocks(blocks);
        const passageText = removeSpace(passages.map((passage) => passage.text));
        const headingText = removeSpace(passages.flatMap(({ headings }) => headings));
        for (const input of blocks) {
          const allText = input.kind === 'heading' ? headingText + passageText : passageText;
          for (const part of listUnsplitTexts(input)) expect(allText).toContain(removeSpace([part]));
        }
      }),
    );
  });

  it('numbers bounded passages in order', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 20 }), (blocks) => {
        for (const [index, { nth, text: passageText }] of chunkBlocks(blocks).entries()) {
          expect(nth).toBe(index);
          expect(estimateTokens(passageText)).toBeLessThanOrEqual(passageTokens + 61);
        }
      }),
    );
  });

  it('starts a new passage at each heading and page', () => {
    const passages = chunkBlocks([
      { kind: 'heading', level: 1, text: 'A', page: 1 },
      { kind: 'text', text: 'one', page: 1 },
      { kind: 'text', text: 'two', page: 1 },
      { kind: 'text', text: 'three', page: 2 },
      { kind: 'heading', level: 2, text: 'B', page: 2 },
      { kind: 'text', text: 'four', page: 2 },
      { kind: 'heading', level: 1, text: 'C', page: 2 },
      { kind: 'text', text: 'five', page: 2 },
    ]);
    expect(passages.map((passage) => [passage.page, passage.headings.join('/'), passage.text])).toEqual([
      [1, 'A', 'one\ntwo'],
      [2, 'A', 'three'],
      [2, 'A/B', 'four'],
      [2, 'C', 'five'],
    ]);
  });

  it('keeps headings without content', () => {
    const heading = (level: number, content: string): Block => ({ kind: 'heading', level, text: content, page: null });
    const passages = chunkBlocks([heading(1, 'A'), heading(2, 'B'), heading(2, 'C'), heading(1, 'D')]);
    expect(passages.map(({ headings, text: content }) => [headings.join('/'), content])).toEqual([
      ['A/B', 'B'],
      ['A/C', 'C'],
      ['D', 'D'],
    ]);
  });

  it('repeats the header of a table unless it is too long', () => {
    const rows = Array.from({ length: 30 }, (_, nth) => [`AB-${nth}`, 'a part of some length that has a long name']);
    const repeated = chunkBlocks([{ kind: 'table', header: ['Part', 'Name'], rows, page: null }]);
    expect(repeated.length).toBeGreaterThan(2);
    for (const passage of repeated) expect(passage.text.split('\n')[0]).toBe('Part | Name');
    const header = ['a very long header '.repeat(20), 'Name'];
    const once = chunkBlocks([{ kind: 'table', header, rows, page: null }]);
    expect(once.filter((passage) => passage.text.includes('very long header'))).toHaveLength(1);
  });
});
