import { useWordsOf } from '../words/words.tsx';
import { type SearchWords, searchEnglish } from './search-english.ts';
import { searchFrench } from './search-french.ts';
import { searchGerman } from './search-german.ts';
import { searchSpanish } from './search-spanish.ts';

/** What is said of what a search has found; apart from the other words, so that only who opens it loads it. */
export function useSearchWords(): SearchWords {
  return useWordsOf({ en: searchEnglish, de: searchGerman, fr: searchFrench, es: searchSpanish });
}
