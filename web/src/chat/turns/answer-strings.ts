import { useLocalizedStrings } from '../../strings/strings.tsx';
import { type AnswerStrings, answerEnglish } from './answer-english.ts';
import { answerFrench } from './answer-french.ts';
import { answerGerman } from './answer-german.ts';
import { answerSpanish } from './answer-spanish.ts';

/** Texts for editing and continuing answers, in a separate chunk that is loaded with the first answer. */
export function useAnswerStrings(): AnswerStrings {
  return useLocalizedStrings({ en: answerEnglish, de: answerGerman, fr: answerFrench, es: answerSpanish });
}
