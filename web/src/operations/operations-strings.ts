import { useLocalizedStrings } from '../strings/strings.tsx';
import { type OperationsStrings, operationsEnglish } from './operations-english.ts';
import { operationsFrench } from './operations-french.ts';
import { operationsGerman } from './operations-german.ts';
import { operationsSpanish } from './operations-spanish.ts';

/** What the page of operations says; apart from the other words, so that only who looks at it loads it. */
export function useOperationsStrings(): OperationsStrings {
  return useLocalizedStrings({ en: operationsEnglish, de: operationsGerman, fr: operationsFrench, es: operationsSpanish });
}
