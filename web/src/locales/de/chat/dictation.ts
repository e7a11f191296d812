import type { DictationStrings } from '../../en/chat/dictation.ts';

export const dictationGerman: DictationStrings = {
  dictate: 'Diktieren',
  stopDictating: 'Diktat beenden',
  recognizedOnDevice: 'Deine Sprache wird auf diesem Gerät zu Text.',
  recognizedOnline: 'Deine Sprache wird an den Hersteller deines Browsers gesendet, der sie in Text umwandelt.',
  dictationFailed: 'Der Browser hat nichts aufgenommen. Erlaube dieser Seite das Mikrofon, oder versuche es noch einmal.',
};
