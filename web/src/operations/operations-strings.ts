import { operationsGerman } from '../locales/de/operations.ts';
import { type OperationsStrings, operationsEnglish } from '../locales/en/operations.ts';
import { operationsSpanish } from '../locales/es/operations.ts';
import { operationsFrench } from '../locales/fr/operations.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the operations page, in a separate chunk that only this page loads. */
export function useOperationsStrings(): OperationsStrings {
  return useLocalizedStrings({ en: operationsEnglish, de: operationsGerman, fr: operationsFrench, es: operationsSpanish });
}
