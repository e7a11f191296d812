import { describe, expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { computeShare, toIdentifiers, toIndexWords, toQueryWords } from './passage-search.ts';

describe('toIndexWords', () => {
  it.each([
    ['Cleaning the Filter', 'cleaning the filter'],
    ['Größe, naïve café', 'große naive cafe'],
    ['part AB-1234/x', 'part ab1234x ab 1234 x'],
    ['e-mail O’Brien', 'email e mail obrien o brien'],
    ['3.5 kg on 2026-07-28', '3d5 3 5 kg on 2026d07d28 2026 07 28'],
    ['lb-07.edge_x', 'lb07edgex lb 07 edge x'],
    ['ＡＢ１２', 'ab12'],
    ['清洗咖啡机 AX19', '清洗 洗咖 咖啡 啡机 ax19'],
    ['第3章', '第 3 章'],
    ['コーヒー', 'コー ーヒ ヒー'],
    ['"; drop -- * (', 'drop'],
    ['', ''],
    ['\ud800 \0 x', 'x'],
  ])('converts %j to %j', (text, words) => {
    expect(toIndexWords(text)).toBe(words);
  });

  it('returns only letters, digits, marks, and spaces, which no engine treats as query syntax', () => {
    const allCharacters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join(' ');
    expect(toIndexWords(allCharacters)).toMatch(/^[\p{L}\p{N}\p{M} ]*$/u);
  });
});

describe('toQueryWords', () => {
  it('returns the significant words once each', () => {
    expect(toQueryWords('How do I clean the clean filter?')).toEqual(['clean', 'filter']);
  });

  it('returns all words if no word is significant', () => {
    expect(toQueryWords('who are you')).toEqual(['who', 'are', 'you']);
    expect(toQueryWords('?!')).toEqual([]);
  });

  it('returns at most 64 words', () => {
    expect(toQueryWords(Array.from({ length: 500 }, (_, nth) => `word${nth}`).join(' '))).toHaveLength(64);
  });
});

describe('computeShare', () => {
  it('counts the query words that a text contains, regardless of their endings', () => {
    const queryWords = toQueryWords('cleaning filters of the AB-12');
    expect(computeShare(queryWords, 'Clean the filter of AB-12 weekly')).toBe(1);
    expect(computeShare(queryWords, 'Clean it')).toBe(0.2);
    expect(computeShare(queryWords, '')).toBe(0);
    expect(computeShare([], 'text')).toBe(0);
  });
});

describe('toIdentifiers', () => {
  it.each([
    ['error E4103 in AB-12/x', ['e4103', 'ab12x']],
    ['the 3rd of 12 in 2024', ['2024']],
    ['a.json and max tokens', []],
    ['cfg.json cfg_value maxTokens LB-EDGE', ['cfgjson', 'cfgvalue', 'maxtokens', 'lbedge']],
    ['x'.repeat(254).concat('12'), ['x'.repeat(254).concat('12')]],
    ['x'.repeat(255).concat('12'), []],
  ])('finds the names in %j', (text, identifiers) => {
    expect(toIdentifiers(text)).toEqual(identifiers);
  });

  it.each([
    ['digits before a letter', `What is ${'1'.repeat(28)}th?`],
    ['one long word', 'x'.repeat(300_000)],
    ['one long word with separators', 'xx-'.repeat(100_000)],
  ])('does not block the event loop: %s', async (_name, text) => {
    expect(await measureEventLoopBlock(() => toIdentifiers(text))).toBeLessThan(250);
  });
});

describe('computeShare with one long word', () => {
  it('does not block the event loop', async () => {
    const word = 'x'.repeat(300_000);
    expect(await measureEventLoopBlock(() => computeShare([word], word))).toBeLessThan(250);
  });
});
