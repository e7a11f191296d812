import { useLocalizedStrings } from '../strings/strings.tsx';
import { type MemoryStrings, memoryEnglish } from './memory-english.ts';
import { memoryFrench } from './memory-french.ts';
import { memoryGerman } from './memory-german.ts';
import { memorySpanish } from './memory-spanish.ts';

/** Texts of the memory dialog, in a separate chunk. */
export function useMemoryStrings(): MemoryStrings {
  return useLocalizedStrings({ en: memoryEnglish, de: memoryGerman, fr: memoryFrench, es: memorySpanish });
}
