import { expect, it } from 'vitest';
import { ChatTexts } from './chat-texts.ts';

const row = (id: string, revision: number) => ({ id, revision, shelf: 0, updated_at_ms: 1, bytes: 1 });
const text = (revision: number, chars: number) => ({ revision, fields: {}, text: 'x'.repeat(chars) });

it('ChatTexts returns a text until its chat changes', () => {
  const texts = new ChatTexts(1_000_000);
  texts.set('a', text(1, 10));
  expect([texts.find(row('a', 1))?.text.length, texts.find(row('a', 2)), texts.find(row('b', 1))]).toEqual([
    10,
    undefined,
    undefined,
  ]);
  texts.set('a', text(2, 20));
  expect(texts.find(row('a', 2))?.text.length).toBe(20);
});

it('ChatTexts limits one user to a quarter of the capacity, and deleting frees it', () => {
  const texts = new ChatTexts(8000);
  texts.set('a', text(1, 500));
  texts.set('b', text(1, 500));
  expect([texts.find(row('a', 1)) !== undefined, texts.find(row('b', 1))]).toEqual([true, undefined]);
  texts.delete('a');
  expect(texts.bytes).toBe(0);
  texts.set('b', text(1, 500));
  expect(texts.find(row('b', 1))).toBeDefined();
});

it('ChatTexts drops the texts of chats that are no longer listed', () => {
  const texts = new ChatTexts(1_000_000);
  for (const id of ['a', 'b']) texts.set(id, text(1, 10));
  texts.setListing(false, { revision: 2, rows: [row('a', 1), row('b', 1)] });
  expect([texts.getListing(false)?.revision, texts.getListing(false)?.rows.length, texts.getListing(true)]).toEqual([
    2,
    2,
    undefined,
  ]);
  const { bytes } = texts;
  texts.setListing(false, { revision: 3, rows: [row('a', 1)] });
  expect([texts.find(row('a', 1)) !== undefined, texts.find(row('b', 1))]).toEqual([true, undefined]);
  expect(texts.bytes).toBeLessThan(bytes);
});
