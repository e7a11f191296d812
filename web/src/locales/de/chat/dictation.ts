import type { DictationStrings } from '../../en/chat/dictation.ts';

export const dictationGerman: DictationStrings = {
  dictate: 'Diktieren',
  stopDictating: 'Diktat beenden',
  heardHere: 'Deine Sprache wird auf diesem Gerät zu Text.',
  heardByMaker: 'Deine Sprache wird an den Hersteller deines Browsers gesendet, der sie in Text umwandelt.',
  dictationFailed: 'Der Browser hat nichts aufgenommen. Erlaube dieser Seite das Mikrofon, oder versuche es noch einmal.',
};
