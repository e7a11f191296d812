import { expect, it } from 'vitest';
import { createLetterIds, letterIdPattern } from './letter-id.ts';

it('createLetterIds returns unique ids of letters and dashes', () => {
  const newId = createLetterIds();
  const ids = Array.from({ length: 1000 }, newId);
  for (const id of ids) expect(id).toMatch(letterIdPattern);
  expect(new Set(ids).size).toBe(ids.length);
});

it('createLetterIds uses every letter', () => {
  const newId = createLetterIds();
  const seen = new Set(Array.from({ length: 1000 }, newId).join(''));
  expect([...seen].sort().join('')).toBe('-abcdefghijklmnop');
});

it('createLetterIds returns ids in the order of their times', () => {
  const times = [0, 1, 15, 16, 1_764_500_000_000, 1_764_500_000_001, 1_764_600_000_000, 2 ** 48 - 1];
  const ids = times.map((nowMs) => createLetterIds(() => nowMs)());
  expect(ids).toEqual([...ids].sort());
  expect(ids.at(-1)).toMatch(/^p{8}-p{4}-/);
});
