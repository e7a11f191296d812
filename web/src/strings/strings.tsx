import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { readBrand } from '../page/brand.ts';
import { english, type Strings } from './english.ts';

/** Each language by its name in itself; words of others than English are loaded when somebody speaks it. */
const dictionaries = {
  en: { name: 'English', load: async (): Promise<Strings> => english },
  de: { name: 'Deutsch', load: (): Promise<Strings> => import('./german.ts').then(({ german }) => german) },
  fr: { name: 'Français', load: (): Promise<Strings> => import('./french.ts').then(({ french }) => french) },
  es: { name: 'Español', load: (): Promise<Strings> => import('./spanish.ts').then(({ spanish }) => spanish) },
} as const;
export type Language = keyof typeof dictionaries;
export const languages = Object.keys(dictionaries) as readonly Language[];

/** The language of the page, its words, and how to change it. */
interface LanguageChoice {
  readonly language: Language;
  readonly strings: Strings;
  readonly setLanguage: (language: Language) => void;
}

const LanguageContext = createContext<LanguageChoice>({ language: 'en', strings: english, setLanguage: () => undefined });
const languageKey = 'parley language';

/** The name a language has in itself. */
export function getLanguageName(language: Language): string {
  return dictionaries[language].name;
}

/** Gives the page its language: the chosen one, else the browser's. */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [selected, setSelected] = useState<Language>(getInitialLanguage);
  const [loaded, setLoaded] = useState<Pick<LanguageChoice, 'language' | 'strings'> | undefined>(
    selected === 'en' ? { language: selected, strings: english } : undefined,
  );
  useEffect(() => {
    let isCanceled = false;
    const apply = (language: Language, strings: Strings): void => {
      if (!isCanceled) setLoaded((now) => (now?.language === language ? now : { language, strings }));
    };
    // A language that does not come is no reason to show nothing.
    dictionaries[selected].load().then(
      (strings) => apply(selected, strings),
      () => apply('en', english),
    );
    return () => {
      isCanceled = true;
    };
  }, [selected]);
  useEffect(() => {
    if (loaded !== undefined) document.documentElement.lang = loaded.language;
  }, [loaded]);
  const choice = useMemo(() => {
    const speak = (next: Language): void => {
      localStorage.setItem(languageKey, next);
      setSelected(next);
    };
    return (
      loaded && {
        ...loaded,
        strings: { ...loaded.strings, product: readBrand().name ?? loaded.strings.product },
        setLanguage: speak,
      }
    );
  }, [loaded]);
  return choice && <LanguageContext value={choice}>{children}</LanguageContext>;
}

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

export function useStrings(): Strings {
  return useLanguage().strings;
}

/** Those of the language of the page, among the words of a part that brings its own; each language must have them. */
export function useLocalizedStrings<PartStrings>(dictionary: Readonly<Record<Language, PartStrings>>): PartStrings {
  return dictionary[useLanguage().language];
}

function getInitialLanguage(): Language {
  const preferred = localStorage.getItem(languageKey) ?? navigator.language.slice(0, 2);
  return languages.find((language) => language === preferred) ?? 'en';
}
