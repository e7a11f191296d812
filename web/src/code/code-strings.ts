import { useLocalizedStrings } from '../strings/strings.tsx';
import { type CodeStrings, codeEnglish } from './code-english.ts';
import { codeFrench } from './code-french.ts';
import { codeGerman } from './code-german.ts';
import { codeSpanish } from './code-spanish.ts';

/** What the dialog for developers says; apart from the other words, so that only who looks at it loads it. */
export function useCodeStrings(): CodeStrings {
  return useLocalizedStrings({ en: codeEnglish, de: codeGerman, fr: codeFrench, es: codeSpanish });
}
