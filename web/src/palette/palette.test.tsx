import { expect, it } from 'vitest';
import { findBest } from './palette.tsx';

const titles = (query: string, ...all: readonly string[]): readonly string[] =>
  findBest(
    all.map((title) => ({ title })),
    query,
  ).map(({ title }) => title);

it('ranks the start of a title before the start of a later word, and both before the inside of a word', () => {
  const all = ['Big use of letters', 'My reusable lists', 'Usual limits', 'The use of it'];
  expect(titles('us', ...all)).toEqual(['Usual limits', 'The use of it', 'Big use of letters', 'My reusable lists']);
});

it('ranks a complete word before a prefix', () => {
  expect(titles('share', 'Shared links', 'Share with a link')).toEqual(['Share with a link', 'Shared links']);
});

it('finds titles despite omitted letters and accents', () => {
  expect(titles('nwct', 'New chat', 'Now')).toEqual(['New chat']);
  expect(titles('resume', 'Résumé of the year')).toEqual(['Résumé of the year']);
  expect(titles('gpt-4', 'GPT-4', 'Learning C++')).toEqual(['GPT-4']);
  expect(titles('c++ (', 'Learning C++ (again)')).toEqual(['Learning C++ (again)']);
});

it('requires every word, in any order', () => {
  expect(titles('list shop', 'Shopping list', 'A list')).toEqual(['Shopping list']);
  expect(titles('zebra', 'Shopping list')).toEqual([]);
});

it('keeps the order of equal matches', () => {
  expect(titles('', 'bcd', 'abc')).toEqual(['bcd', 'abc']);
  expect(titles('note', 'Notes 2', 'Notes 1')).toEqual(['Notes 2', 'Notes 1']);
});
