import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { readBrand } from '../page/brand.ts';
import { english, type Words } from './english.ts';
import { german } from './german.ts';

const dictionaries = { en: english, de: german } as const;
export type Language = keyof typeof dictionaries;
export const languages = Object.keys(dictionaries) as readonly Language[];

/** The language of the page, its words, and how to change it. */
interface LanguageChoice {
  readonly language: Language;
  readonly words: Words;
  readonly speak: (language: Language) => void;
}

const LanguageContext = createContext<LanguageChoice>({ language: 'en', words: english, speak: () => undefined });
const keptAs = 'parley language';

/** The name a language has in itself. */
export function nameOf(language: Language): string {
  return dictionaries[language].language;
}

/** Gives the page its language: the chosen one, else the browser's. */
export function Speaking({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const choice = useMemo(() => {
    const speak = (next: Language): void => {
      localStorage.setItem(keptAs, next);
      setLanguage(next);
    };
    const product = readBrand().name ?? dictionaries[language].product;
    return { language, words: { ...dictionaries[language], product }, speak };
  }, [language]);
  return <LanguageContext value={choice}>{children}</LanguageContext>;
}

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

export function useWords(): Words {
  return useLanguage().words;
}

function firstLanguage(): Language {
  const wanted = localStorage.getItem(keptAs) ?? navigator.language.slice(0, 2);
  return languages.find((language) => language === wanted) ?? 'en';
}
