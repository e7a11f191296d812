import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { english, type Strings } from '../locales/en/page.ts';
import { readBrand } from '../shell/brand.ts';

/** Languages by their own name. Catalogs other than English are loaded on demand. */
const dictionaries = {
  en: { name: 'English', load: async (): Promise<Strings> => english },
  de: { name: 'Deutsch', load: (): Promise<Strings> => import('../locales/de/page.ts').then(({ german }) => german) },
  fr: { name: 'Français', load: (): Promise<Strings> => import('../locales/fr/page.ts').then(({ french }) => french) },
  es: { name: 'Español', load: (): Promise<Strings> => import('../locales/es/page.ts').then(({ spanish }) => spanish) },
} as const;
export type Language = keyof typeof dictionaries;
export const languages = Object.keys(dictionaries) as readonly Language[];

/** The selected language with its texts. */
interface LanguageChoice {
  readonly language: Language;
  /** Locale of dates and numbers: the language as written in the region of the browser. */
  readonly locale: string;
  readonly strings: Strings;
  readonly setLanguage: (language: Language) => void;
}

const LanguageContext = createContext<LanguageChoice>({
  language: 'en',
  locale: 'en',
  strings: english,
  setLanguage: () => undefined,
});
const languageKey = 'parley language';

/** Returns the first locale of the browser in a language, such as `en-GB`, or the language. */
function getLocale(language: Language): string {
  return navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ?? language;
}

/** Returns the name of a language in that language. */
export function getLanguageName(language: Language): string {
  return dictionaries[language].name;
}

/** Provides the chosen language, or the language of the browser. */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [selected, setSelected] = useState<Language>(getInitialLanguage);
  const [loaded, setLoaded] = useState<Pick<LanguageChoice, 'language' | 'strings'> | undefined>(
    selected === 'en' ? { language: selected, strings: english } : undefined,
  );
  useEffect(() => {
    let isCanceled = false;
    const apply = (language: Language, strings: Strings): void => {
      if (!isCanceled) setLoaded((current) => (current?.language === language ? current : { language, strings }));
    };
    // If a language fails to load, the page stays usable.
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
    const selectLanguage = (next: Language): void => {
      localStorage.setItem(languageKey, next);
      setSelected(next);
    };
    return (
      loaded && {
        ...loaded,
        locale: getLocale(loaded.language),
        strings: { ...loaded.strings, product: readBrand().name ?? loaded.strings.product },
        setLanguage: selectLanguage,
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

/** Returns the texts of a part of the page in the selected language. */
export function useLocalizedStrings<PartStrings>(dictionary: Readonly<Record<Language, PartStrings>>): PartStrings {
  return dictionary[useLanguage().language];
}

function getInitialLanguage(): Language {
  const preferred = localStorage.getItem(languageKey) ?? navigator.language.slice(0, 2);
  return languages.find((language) => language === preferred) ?? 'en';
}
