import { expect, it } from 'vitest';
import { createLetterIds } from './letter-id.ts';

it('createLetterIds returns unique ids of letters and dashes', () => {
  const newId = createLetterIds();
  const ids = Array.from({ length: 1000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[a-p]{8}-[a-p]{4}-[a-p]{4}-[a-p]{4}-[a-p]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

it('createLetterIds uses every letter', () => {
  const newId = createLetterIds();
  const seen = new Set(Array.from({ length: 1000 }, newId).join(''));
  expect([...seen].sort().join('')).toBe('-abcdefghijklmnop');
});
