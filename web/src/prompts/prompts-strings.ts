import { useLocalizedStrings } from '../strings/strings.tsx';
import { type PromptsStrings, promptsEnglish } from './prompts-english.ts';
import { promptsFrench } from './prompts-french.ts';
import { promptsGerman } from './prompts-german.ts';
import { promptsSpanish } from './prompts-spanish.ts';

/** Texts of the prompts, in a separate chunk that is loaded with the dialog. */
export function usePromptsStrings(): PromptsStrings {
  return useLocalizedStrings({ en: promptsEnglish, de: promptsGerman, fr: promptsFrench, es: promptsSpanish });
}
