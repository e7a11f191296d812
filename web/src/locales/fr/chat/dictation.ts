import type { DictationStrings } from '../../en/chat/dictation.ts';

export const dictationFrench: DictationStrings = {
  dictate: 'Dicter',
  stopDictating: 'Arrêter la dictée',
  recognizedOnDevice: 'Votre voix est transformée en texte sur cet appareil.',
  recognizedOnline: 'Votre voix est envoyée à l’éditeur de votre navigateur, qui la transforme en texte.',
  dictationFailed: 'Le navigateur n’a rien enregistré. Autorisez le micro pour cette page, ou réessayez.',
};
