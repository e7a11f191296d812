import { useLocalizedStrings } from '../strings/strings.tsx';
import { type PromptsStrings, promptsEnglish } from './prompts-english.ts';
import { promptsFrench } from './prompts-french.ts';
import { promptsGerman } from './prompts-german.ts';
import { promptsSpanish } from './prompts-spanish.ts';

/** What is said of one’s own prompts; apart from the other words, so that it is loaded when they are looked at. */
export function usePromptsStrings(): PromptsStrings {
  return useLocalizedStrings({ en: promptsEnglish, de: promptsGerman, fr: promptsFrench, es: promptsSpanish });
}
