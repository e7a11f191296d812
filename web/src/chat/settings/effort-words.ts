import { useWordsOf } from '../../words/words.tsx';
import { type EffortWords, effortEnglish } from './effort-english.ts';
import { effortFrench } from './effort-french.ts';
import { effortGerman } from './effort-german.ts';
import { effortSpanish } from './effort-spanish.ts';

/** What is said of how long a model thinks; apart from the other words, as it comes with the settings of a conversation. */
export function useEffortWords(): EffortWords {
  return useWordsOf({ en: effortEnglish, de: effortGerman, fr: effortFrench, es: effortSpanish });
}
