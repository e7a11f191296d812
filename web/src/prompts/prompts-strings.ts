import { promptsGerman } from '../locales/de/prompts.ts';
import { type PromptsStrings, promptsEnglish } from '../locales/en/prompts.ts';
import { promptsSpanish } from '../locales/es/prompts.ts';
import { promptsFrench } from '../locales/fr/prompts.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

/** Texts of the prompts, in a separate chunk that only their list and dialog load. */
export function usePromptsStrings(): PromptsStrings {
  return useLocalizedStrings({ en: promptsEnglish, de: promptsGerman, fr: promptsFrench, es: promptsSpanish });
}
