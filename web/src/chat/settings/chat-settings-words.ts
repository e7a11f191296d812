import { useWordsOf } from '../../words/words.tsx';
import { type ChatSettingsWords, chatSettingsEnglish } from './chat-settings-english.ts';
import { chatSettingsFrench } from './chat-settings-french.ts';
import { chatSettingsGerman } from './chat-settings-german.ts';
import { chatSettingsSpanish } from './chat-settings-spanish.ts';

/** What the settings of a conversation say; apart from the other words, so that they are loaded when they are opened. */
export function useChatSettingsWords(): ChatSettingsWords {
  return useWordsOf({ en: chatSettingsEnglish, de: chatSettingsGerman, fr: chatSettingsFrench, es: chatSettingsSpanish });
}
