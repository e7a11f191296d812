import { useWordsOf } from '../../words/words.tsx';
import { type QueueWords, queueEnglish } from './queue-english.ts';
import { queueFrench } from './queue-french.ts';
import { queueGerman } from './queue-german.ts';
import { queueSpanish } from './queue-spanish.ts';

/** What is said of messages that wait; apart from the other words, as few people ever have one. */
export function useQueueWords(): QueueWords {
  return useWordsOf({ en: queueEnglish, de: queueGerman, fr: queueFrench, es: queueSpanish });
}
