import { useWordsOf } from '../words/words.tsx';
import { type FilesWords, filesEnglish } from './files-english.ts';
import { filesGerman } from './files-german.ts';

/** What the page of files says; apart from the other words, so that only who looks at it loads it. */
export function useFilesWords(): FilesWords {
  return useWordsOf({ en: filesEnglish, de: filesGerman });
}
