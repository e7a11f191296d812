import { useWordsOf } from '../../words/words.tsx';
import { type PickerWords, pickerEnglish } from './picker-english.ts';
import { pickerFrench } from './picker-french.ts';
import { pickerGerman } from './picker-german.ts';
import { pickerSpanish } from './picker-spanish.ts';

/** What the choice of a deployment says; apart from the other words, so that it is loaded when it is opened. */
export function usePickerWords(): PickerWords {
  return useWordsOf({ en: pickerEnglish, de: pickerGerman, fr: pickerFrench, es: pickerSpanish });
}
