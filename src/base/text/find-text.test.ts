import { describe, expect, it } from 'vitest';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { findText, replaceText } from './find-text.ts';

const maxBlockMs = 250;
/** A text of few letters. Long parts occur almost everywhere in it. */
const text = 'aab'.repeat(200) + 'aabaa'.repeat(100) + 'ab'.repeat(300);
const parts = [1, 250, 251, 300, 599].flatMap((length) => [0, 1, 350, 700].map((start) => text.slice(start, start + length)));

describe('findText', () => {
  it.each([...parts, ...parts.map((part) => `${part}c`), ''])('finds the same index as indexOf', (part) => {
    for (const from of [0, 1, 349, 2000]) expect(findText(text, part, from)).toBe(text.indexOf(part, from));
  });

  it('does not block the event loop for a part that almost occurs everywhere', async () => {
    const part = `ab${'a'.repeat(8000)}`;
    const blockedMs = await measureMinEventLoopBlock(maxBlockMs, () => findText('a'.repeat(1_000_000), part));
    expect(blockedMs).toBeLessThan(maxBlockMs);
  });
});

describe('replaceText', () => {
  it.each([...parts, ...parts.map((part) => `${part}c`)])('returns the same text as replaceAll', (part) => {
    expect(replaceText(text, part, '***')).toBe(text.replaceAll(part, '***'));
  });
});
