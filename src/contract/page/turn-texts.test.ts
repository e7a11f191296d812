import { describe, expect, it } from 'vitest';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { toChatTitle } from './turn-texts.ts';

describe('toChatTitle', () => {
  it('returns the start of the text without extra spaces, in 80 characters', () => {
    expect(toChatTitle({ text: '  When \n is it   open? ' })).toBe('When is it open?');
    expect(toChatTitle({ text: 'ab '.repeat(100) })).toBe(`${'ab '.repeat(26)}a…`);
  });

  it('returns the name of the form or of the first file if the text is empty', () => {
    expect(toChatTitle({ text: ' ', control: { label: 'Form' } })).toBe('Form');
    expect(toChatTitle({ text: '', attachments: [{ title: 'a.pdf' }] })).toBe('a.pdf');
  });

  it('does not block the event loop with a text of many megabytes', async () => {
    const text = 'a '.repeat(8_000_000);
    expect(await measureMinEventLoopBlock(250, () => toChatTitle({ text }))).toBeLessThan(250);
  });
});
