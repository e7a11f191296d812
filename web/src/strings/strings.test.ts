import { describe, expect, it } from 'vitest';
import { german } from '../locales/de/page.ts';
import { formsEnglish } from '../locales/en/forms.ts';
import { english } from '../locales/en/page.ts';
import { spanish } from '../locales/es/page.ts';
import { french } from '../locales/fr/page.ts';
import { suggestAction } from './suggest-action.ts';

const translations = ['de', 'fr', 'es'] as const;
/** Catalogs of the page and its parts, by path. */
const files = import.meta.glob<Record<string, unknown>>('../locales/**/*.ts', { eager: true });
const listPaths = (language: string): readonly string[] => Object.keys(files).filter((path) => path.includes(`/${language}/`));
const schemaPaths = Object.keys(files).filter((path) => path.endsWith('/schema.ts'));
const englishPaths = listPaths('en');

/** Returns the catalog of a file. */
function getCatalog(path: string): object {
  const catalog = Object.values(files[path] ?? {}).find((value) => typeof value === 'object' && value !== null);
  if (catalog === undefined || catalog === null) throw new Error(`${path} has no catalog`);
  return catalog;
}

/** Arguments of `limitName`, the only text that translates its arguments. */
const customArguments: Readonly<Record<string, readonly unknown[]>> = { limitName: ['Token', 'day'] };

/** Lists the texts of a catalog by key. Functions are called with recognizable values. */
function listTexts(catalog: object, values: readonly unknown[], path = ''): [key: string, text: string][] {
  return Object.entries(catalog).flatMap(([key, value]) => {
    if (typeof value === 'function') {
      return [[path + key, String((value as (...input: unknown[]) => unknown)(...(customArguments[key] ?? values)))]];
    }
    if (typeof value === 'object' && value !== null) return listTexts(value, values, `${path}${key}.`);
    return [[path + key, String(value)]];
  });
}

/** Lists the parts of a text that must be equal in every language: the values, and placeholders in braces. */
function listValues(text: string): string[] {
  return [...new Set(text.match(/\d{3}\b/g) ?? []), ...(text.match(/\{\{/g) ?? [])].sort();
}

const argumentValues = [711, 822, 933];

describe.each(englishPaths)('%s', (path) => {
  const englishCatalog = getCatalog(path);

  it.each(translations)('has the same keys and values in %s', (language) => {
    const catalog = getCatalog(path.replace('/en/', `/${language}/`));
    const textByKey = new Map(listTexts(catalog, argumentValues));
    const englishTexts = listTexts(englishCatalog, argumentValues);
    expect([...textByKey.keys()].sort()).toEqual(englishTexts.map(([key]) => key).sort());
    for (const [key, text] of englishTexts) {
      const translated = textByKey.get(key) ?? '';
      expect([key, translated.trim() === '', translated.includes('undefined')]).toEqual([key, text.trim() === '', false]);
      expect([key, listValues(translated)]).toEqual([key, listValues(text)]);
    }
  });

  it.each(translations)('has no English texts in %s', (language) => {
    const textByKey = new Map(listTexts(getCatalog(path.replace('/en/', `/${language}/`)), argumentValues));
    // A sentence differs between two languages. Single words may be equal.
    const untranslated = listTexts(englishCatalog, argumentValues).filter(
      ([key, text]) => textByKey.get(key) === text && /\p{L}{2,} \p{Ll}{2,}/u.test(text.replace(/711|822|933/g, '')),
    );
    expect(untranslated).toEqual([]);
    const onlyEnglish = /(?<![\p{L}])(?:the|and|with|this|your|you|what|cannot|were|from|could)(?![\p{L}])/iu;
    expect([...textByKey].filter(([, text]) => onlyEnglish.test(text))).toEqual([]);
  });
});

describe('French texts', () => {
  it.each(listPaths('fr'))('use no-break spaces and the formal address in %s', (path) => {
    const texts = listTexts(getCatalog(path), argumentValues);
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.filter(([, text]) => /« | [»?!;:]|\S[?!;]|[^\s\d/]:(?:\s|$)/.test(removeExemptPunctuation(text)))).toEqual([]);
    expect(texts.filter(([, text]) => /(?<!\p{L})(?:tu|toi|tes|ton)(?!\p{L})/iu.test(text))).toEqual([]);
  });
});

/** Removes punctuation that follows a no-break space, and code. */
function removeExemptPunctuation(text: string): string {
  return text.replace(/\u00a0[»?!;:%]|«\u00a0|"\w+":|background: true/g, '');
}

it.each(listPaths('es'))('Spanish texts use opening question marks and the informal address in %s', (path) => {
  const texts = listTexts(getCatalog(path), argumentValues);
  expect(texts.filter(([, text]) => (text.match(/\?/g)?.length ?? 0) !== (text.match(/¿/g)?.length ?? 0))).toEqual([]);
  expect(texts.filter(([, text]) => /\b(?:usted|su cuenta|sus conversaciones)\b/i.test(text))).toEqual([]);
});

it.each(listPaths('de'))('German texts use the informal address in %s', (path) => {
  const texts = listTexts(getCatalog(path), argumentValues);
  // At the start of a sentence, the word may have another meaning.
  expect(texts.filter(([, text]) => /[\p{L},] (?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)(?!\p{L})/u.test(text))).toEqual([]);
});

it('translates the schema to each language', () => {
  expect(schemaPaths.map((path) => path.replace(/.*\/(\w+)\/schema\.ts/, '$1')).sort()).toEqual([...translations].sort());
  const keys = schemaPaths.map((path) => Object.keys(getCatalog(path)).sort());
  for (const languageKeys of keys) expect(languageKeys).toEqual(keys[0]);
});

describe('plural forms', () => {
  it('are correct in English', () => {
    const texts = [
      english.tokens('1'),
      english.moreRows('1'),
      formsEnglish.minLength(1),
      formsEnglish.maxLength(1),
      english.answerDone(1),
    ];
    expect(texts.filter((text) => /\b(1|one) (more )?\w+s\b/.test(text))).toEqual([]);
    expect([english.tokens('2'), formsEnglish.maxLength(2)]).toEqual(['2 tokens', 'At most 2 characters.']);
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

describe('suggestAction', () => {
  const error = { status: 429, message: '', retryAfterSeconds: 7200 };
  const suggest = (code: string) => suggestAction({ ...error, code }, { strings: english, locale: 'en', isAnswer: true });

  it('suggests another model for a limit of tokens, but not for the cost of all models', () => {
    expect(suggest('token_limit_exceeded')).toMatch(/^You can continue in 2 hours .* another model/);
    expect(suggest('cost_limit_exceeded')).toMatch(/^Try again in 2 hours [^.]*\.$/);
  });
});
