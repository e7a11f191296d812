import { useLocalizedStrings } from '../strings/strings.tsx';
import { type CodeStrings, codeEnglish } from './code-english.ts';
import { codeFrench } from './code-french.ts';
import { codeGerman } from './code-german.ts';
import { codeSpanish } from './code-spanish.ts';

/** Texts of the code dialog, in a separate chunk that only the dialog loads. */
export function useCodeStrings(): CodeStrings {
  return useLocalizedStrings({ en: codeEnglish, de: codeGerman, fr: codeFrench, es: codeSpanish });
}
