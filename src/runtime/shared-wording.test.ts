import { expect, it } from 'vitest';
import { fromWordingOf } from '#agent/citations.ts';
import { measureLongestHold } from '#test/longest-hold.ts';

const passages = [
  'The mill was built by monks in 1283 at the river.',
  'The weavers came in 1846 with forty looms from the north.',
  'A hotel room may cost up to 140 euros a night; the code is AB-12/x.',
  '咖啡机的过滤器每周清洗一次。',
];

it.each<[string, string, number[]]>([
  ['that quotes a passage', '> The mill was built by monks in 1283 at the river.', [0]],
  ['in other words and forms', 'Monks built that mill in 1283.', [0]],
  ['that takes sentences from two', 'Monks built the mill in 1283. In 1846 weavers came with forty looms.', [0, 1]],
  ['with a line for each source', '- 140 euros\n- forty looms of 1846', [1, 2]],
  ['that is a number with its unit', '140 euros', [2]],
  ['with a code', 'Your code: AB-12/x.', [2]],
  ['in a script without spaces', '过滤器每周清洗一次', [3]],
  ['that has a word in common only', 'Hotels are nice.', []],
  ['with a number in common only', 'In 1283 something else happened elsewhere, far away from everything.', []],
  ['that says little', 'Done.', []],
  ['that refuses', 'The documents do not tell anything about giraffes.', []],
  ['that is empty', '', []],
])('an answer %s', (_what, answer, expected) => {
  expect([...fromWordingOf(answer, passages)].sort()).toEqual(expected);
});

it('takes a sentence from the passage that has most of it', () => {
  const near = 'The mill was sold by monks in 1283.';
  expect([...fromWordingOf('The mill was built by monks in 1283.', [near, ...passages])]).toEqual([1]);
});

it('reads a bounded part of a long answer', async () => {
  const answer = 'word after word without an end '.repeat(300_000);
  const texts = Array.from({ length: 50 }, () => passages.join(' '));
  expect(await measureLongestHold(() => fromWordingOf(answer, texts))).toBeLessThan(5000);
});
