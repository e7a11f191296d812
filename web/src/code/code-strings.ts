import { codeGerman } from '../locales/de/code.ts';
import { type CodeStrings, codeEnglish } from '../locales/en/code.ts';
import { codeSpanish } from '../locales/es/code.ts';
import { codeFrench } from '../locales/fr/code.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the code dialog, in a separate chunk that only the dialog loads. */
export function useCodeStrings(): CodeStrings {
  return useLocalizedStrings({ en: codeEnglish, de: codeGerman, fr: codeFrench, es: codeSpanish });
}
