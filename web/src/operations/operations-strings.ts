import { useLocalizedStrings } from '../strings/strings.tsx';
import { type OperationsStrings, operationsEnglish } from './operations-english.ts';
import { operationsFrench } from './operations-french.ts';
import { operationsGerman } from './operations-german.ts';
import { operationsSpanish } from './operations-spanish.ts';

/** Texts of the operations page, in a separate chunk that only this page loads. */
export function useOperationsStrings(): OperationsStrings {
  return useLocalizedStrings({ en: operationsEnglish, de: operationsGerman, fr: operationsFrench, es: operationsSpanish });
}
