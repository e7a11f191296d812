import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { readBrand } from '../page/brand.ts';
import { english, type Words } from './english.ts';

/** Each language by its name in itself; words of others than English are loaded when somebody speaks it. */
const dictionaries = {
  en: { name: 'English', load: async (): Promise<Words> => english },
  de: { name: 'Deutsch', load: (): Promise<Words> => import('./german.ts').then(({ german }) => german) },
  fr: { name: 'Français', load: (): Promise<Words> => import('./french.ts').then(({ french }) => french) },
  es: { name: 'Español', load: (): Promise<Words> => import('./spanish.ts').then(({ spanish }) => spanish) },
} as const;
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
  return dictionaries[language].name;
}

/** Gives the page its language: the chosen one, else the browser's. */
export function Speaking({ children }: { readonly children: ReactNode }) {
  const [wanted, setWanted] = useState<Language>(firstLanguage);
  const [spoken, setSpoken] = useState<Pick<LanguageChoice, 'language' | 'words'> | undefined>(
    wanted === 'en' ? { language: wanted, words: english } : undefined,
  );
  useEffect(() => {
    let isGone = false;
    const take = (language: Language, words: Words): void => {
      if (!isGone) setSpoken((now) => (now?.language === language ? now : { language, words }));
    };
    // A language that does not come is no reason to show nothing.
    dictionaries[wanted].load().then(
      (words) => take(wanted, words),
      () => take('en', english),
    );
    return () => {
      isGone = true;
    };
  }, [wanted]);
  useEffect(() => {
    if (spoken !== undefined) document.documentElement.lang = spoken.language;
  }, [spoken]);
  const choice = useMemo(() => {
    const speak = (next: Language): void => {
      localStorage.setItem(keptAs, next);
      setWanted(next);
    };
    return spoken && { ...spoken, words: { ...spoken.words, product: readBrand().name ?? spoken.words.product }, speak };
  }, [spoken]);
  return choice && <LanguageContext value={choice}>{children}</LanguageContext>;
}

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

export function useWords(): Words {
  return useLanguage().words;
}

/** Those of the language of the page, among the words of a part that brings its own; each language must have them. */
export function useWordsOf<PartWords>(dictionary: Readonly<Record<Language, PartWords>>): PartWords {
  return dictionary[useLanguage().language];
}

function firstLanguage(): Language {
  const wanted = localStorage.getItem(keptAs) ?? navigator.language.slice(0, 2);
  return languages.find((language) => language === wanted) ?? 'en';
}
