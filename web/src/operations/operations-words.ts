import { useWordsOf } from '../words/words.tsx';
import { type OperationsWords, operationsEnglish } from './operations-english.ts';
import { operationsFrench } from './operations-french.ts';
import { operationsGerman } from './operations-german.ts';
import { operationsSpanish } from './operations-spanish.ts';

/** What the page of operations says; apart from the other words, so that only who looks at it loads it. */
export function useOperationsWords(): OperationsWords {
  return useWordsOf({ en: operationsEnglish, de: operationsGerman, fr: operationsFrench, es: operationsSpanish });
}
