import type { DictationStrings } from './dictation-english.ts';

export const dictationFrench: DictationStrings = {
  dictate: 'Dicter',
  stopDictating: 'Arrêter la dictée',
  heardHere: 'Ce que vous dites devient du texte sur cet appareil.',
  heardByMaker: 'Ce que vous dites est envoyé à l’éditeur de votre navigateur, qui le transforme en texte.',
  dictationFailed: 'Le navigateur n’a rien enregistré. Autorisez le micro pour cette page, ou réessayez.',
};
