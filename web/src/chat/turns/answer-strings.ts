import { answerGerman } from '../../locales/de/chat/answer.ts';
import { type AnswerStrings, answerEnglish } from '../../locales/en/chat/answer.ts';
import { answerSpanish } from '../../locales/es/chat/answer.ts';
import { answerFrench } from '../../locales/fr/chat/answer.ts';
import { useLocalizedStrings } from '../../strings/strings.tsx';

/** Texts for editing and continuing answers, in a separate chunk that is loaded with the first answer. */
export function useAnswerStrings(): AnswerStrings {
  return useLocalizedStrings({ en: answerEnglish, de: answerGerman, fr: answerFrench, es: answerSpanish });
}
