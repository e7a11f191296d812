import { useWordsOf } from '../../words/words.tsx';
import { type AnswerWords, answerEnglish } from './answer-english.ts';
import { answerFrench } from './answer-french.ts';
import { answerGerman } from './answer-german.ts';
import { answerSpanish } from './answer-spanish.ts';

/** What is said of changing an answer; apart from the other words, as it comes with the first answer. */
export function useAnswerWords(): AnswerWords {
  return useWordsOf({ en: answerEnglish, de: answerGerman, fr: answerFrench, es: answerSpanish });
}
