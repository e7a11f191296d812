import { useWordsOf } from '../words/words.tsx';
import { type TransferWords, transferEnglish } from './transfer-english.ts';
import { transferFrench } from './transfer-french.ts';
import { transferGerman } from './transfer-german.ts';
import { transferSpanish } from './transfer-spanish.ts';

/** What the dialog for taking conversations along says; apart from the other words, so that only who opens it loads it. */
export function useTransferWords(): TransferWords {
  return useWordsOf({ en: transferEnglish, de: transferGerman, fr: transferFrench, es: transferSpanish });
}
