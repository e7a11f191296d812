import { describe, expect, it } from 'vitest';
import { formsEnglish } from '../forms/forms-english.ts';
import { english } from './english.ts';
import { french } from './french.ts';
import { german } from './german.ts';
import { spanish } from './spanish.ts';

const others = ['german', 'french', 'spanish'] as const;
/** Catalogs by path: of the page, and of its parts. */
const files = import.meta.glob<Record<string, unknown>>(
  ['../**/english.ts', '../**/*-english.ts', '../**/*german.ts', '../**/*french.ts', '../**/*spanish.ts'],
  { eager: true },
);
const schemas = Object.keys(files).filter((path) => path.includes('/schema-'));
const parts = Object.keys(files).filter((path) => path.endsWith('english.ts'));

/** Returns the catalog of a file. */
function wordsIn(path: string): object {
  const words = Object.values(files[path] ?? {}).find((value) => typeof value === 'object' && value !== null);
  if (words === undefined || words === null) throw new Error(`${path} has no words`);
  return words;
}

/** Arguments of the only text that translates its arguments. */
const namesFor: Readonly<Record<string, readonly unknown[]>> = { limitName: ['Token', 'day'] };

/** Lists the texts of a catalog by key. Functions are called with recognizable values. */
function sayingsOf(words: object, values: readonly unknown[], path = ''): [key: string, text: string][] {
  return Object.entries(words).flatMap(([key, said]) => {
    if (typeof said === 'function') {
      return [[path + key, String((said as (...given: unknown[]) => unknown)(...(namesFor[key] ?? values)))]];
    }
    if (typeof said === 'object' && said !== null) return sayingsOf(said, values, `${path}${key}.`);
    return [[path + key, String(said)]];
  });
}

/** Lists the parts of a text that must be equal in every language: the values, and placeholders in braces. */
function placesIn(text: string): string[] {
  return [...new Set(text.match(/\d{3}\b/g) ?? []), ...(text.match(/\{\{/g) ?? [])].sort();
}

const many = [711, 822, 933];

describe.each(parts)('%s', (path) => {
  const inEnglish = wordsIn(path);

  it.each(others)('has the same keys and values in %s', (language) => {
    const there = wordsIn(path.replace('english.ts', `${language}.ts`));
    const spoken = new Map(sayingsOf(there, many));
    const wanted = sayingsOf(inEnglish, many);
    expect([...spoken.keys()].sort()).toEqual(wanted.map(([key]) => key).sort());
    for (const [key, text] of wanted) {
      const said = spoken.get(key) ?? '';
      expect([key, said.trim() === '', said.includes('undefined')]).toEqual([key, text.trim() === '', false]);
      expect([key, placesIn(said)]).toEqual([key, placesIn(text)]);
    }
  });

  it.each(others)('has no English texts in %s', (language) => {
    const spoken = new Map(sayingsOf(wordsIn(path.replace('english.ts', `${language}.ts`)), many));
    // A sentence differs between two languages. Single words may be equal.
    const left = sayingsOf(inEnglish, many).filter(
      ([key, text]) => spoken.get(key) === text && /\p{L}{2,} \p{Ll}{2,}/u.test(text.replace(/711|822|933/g, '')),
    );
    expect(left).toEqual([]);
    const onlyEnglish = /(?<![\p{L}])(?:the|and|with|this|your|you|what|cannot|were|from|could)(?![\p{L}])/iu;
    expect([...spoken].filter(([, said]) => onlyEnglish.test(said))).toEqual([]);
  });
});

describe('French texts', () => {
  const paths = Object.keys(files).filter((path) => path.endsWith('french.ts'));

  it.each(paths)('use no-break spaces and the formal address in %s', (path) => {
    const said = sayingsOf(wordsIn(path), many);
    expect(said.length).toBeGreaterThan(3);
    expect(said.filter(([, text]) => /« | [»?!;:]|\S[?!;]|[^\s\d/]:(?:\s|$)/.test(marked(text)))).toEqual([]);
    expect(said.filter(([, text]) => /(?<!\p{L})(?:tu|toi|tes|ton)(?!\p{L})/iu.test(text))).toEqual([]);
  });
});

/** Removes punctuation that follows a no-break space, and code. */
function marked(text: string): string {
  return text.replace(/\u00a0[»?!;:%]|«\u00a0|"\w+":|background: true/g, '');
}

it.each(Object.keys(files).filter((path) => path.endsWith('spanish.ts')))(
  'Spanish texts use opening question marks and the informal address in %s',
  (path) => {
    const said = sayingsOf(wordsIn(path), many);
    expect(said.filter(([, text]) => (text.match(/\?/g)?.length ?? 0) !== (text.match(/¿/g)?.length ?? 0))).toEqual([]);
    expect(said.filter(([, text]) => /\b(?:usted|su cuenta|sus conversaciones)\b/i.test(text))).toEqual([]);
  },
);

it.each(Object.keys(files).filter((path) => path.endsWith('german.ts')))(
  'German texts use the informal address in %s',
  (path) => {
    const said = sayingsOf(wordsIn(path), many);
    // At the start of a sentence, the word may have another meaning.
    expect(said.filter(([, text]) => /[\p{L},] (?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)(?!\p{L})/u.test(text))).toEqual([]);
  },
);

it('translates the schema to each language', () => {
  expect(schemas.map((path) => path.replace(/.*schema-(\w+)\.ts/, '$1')).sort()).toEqual([...others].sort());
  const keys = schemas.map((path) => Object.keys(wordsIn(path)).sort());
  for (const each of keys) expect(each).toEqual(keys[0]);
});

describe('plural forms', () => {
  it('are correct in English', () => {
    const counted = [
      english.tokens('1'),
      english.moreRows('1'),
      formsEnglish.longEnough(1),
      formsEnglish.shortEnough(1),
      english.answerDone(1),
    ];
    expect(counted.filter((said) => /\b(1|one) (more )?\w+s\b/.test(said))).toEqual([]);
    expect([english.tokens('2'), formsEnglish.shortEnough(2)]).toEqual(['2 tokens', 'At most 2 characters.']);
  });

  it('follow the rules of the other languages', () => {
    expect(german.moreRows('1')).toContain('1 weitere Zeile ist');
    expect([0, 1, 2].map(french.answerDone)).toEqual([
      'La réponse est complète, 0 mot.',
      'La réponse est complète, 1 mot.',
      'La réponse est complète, 2 mots.',
    ]);
    expect([0, 1, 2].map(spanish.answerDone)).toEqual([
      'La respuesta está completa, 0 palabras.',
      'La respuesta está completa, 1 palabra.',
      'La respuesta está completa, 2 palabras.',
    ]);
  });
});
