import { useWordsOf } from '../words/words.tsx';
import { type TagsWords, tagsEnglish } from './tags-english.ts';
import { tagsFrench } from './tags-french.ts';
import { tagsGerman } from './tags-german.ts';
import { tagsSpanish } from './tags-spanish.ts';

/** What the tags of a conversation say; apart from the other words, so that it is loaded with them. */
export function useTagsWords(): TagsWords {
  return useWordsOf({ en: tagsEnglish, de: tagsGerman, fr: tagsFrench, es: tagsSpanish });
}
