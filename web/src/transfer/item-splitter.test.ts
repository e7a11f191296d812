import { describe, expect, it } from 'vitest';
import { ItemSplitter, UnreadableFileError } from './item-splitter.ts';

/** Returns the items of a text that arrives in pieces of a given length. */
function splitItems(text: string, length: number, maxItemChars = 1000): readonly string[] {
  const splitter = new ItemSplitter(maxItemChars);
  const items: string[] = [];
  for (let index = 0; index < text.length; index += length) items.push(...splitter.push(text.slice(index, index + length)));
  return [...items, ...splitter.end()];
}

const items = ['{"a":"x,]}\\"\\\\"}', '[1,[2]]', '"te\\\\"', '5'];

describe.each([1, 2, 3, 7, 1000])('ItemSplitter with pieces of %i', (length) => {
  it('splits a list at the ends of its items regardless of their texts', () => {
    expect(splitItems(`\uFEFF [ ${items.join(' ,\n')} ] `, length)).toEqual(items);
    expect(splitItems('[]', length)).toEqual([]);
  });

  it('returns other JSON as one item', () => {
    expect(splitItems(' {"a":[1,2],"b":"]"} ', length)).toEqual(['{"a":[1,2],"b":"]"}']);
  });

  it('drops an item that is too large', () => {
    expect(splitItems(`[1,"${'x'.repeat(50)}",{"a":2}]`, length, 20)).toEqual(['1', '', '{"a":2}']);
  });

  it.each(['', 'text', '[1', '{"a":"', '[{}'])('throws for invalid or incomplete text: %s', (text) => {
    expect(() => splitItems(text, length)).toThrow(UnreadableFileError);
  });
});
