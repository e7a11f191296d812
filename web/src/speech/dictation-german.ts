import type { DictationStrings } from './dictation-english.ts';

export const dictationGerman: DictationStrings = {
  dictate: 'Diktieren',
  stopDictating: 'Diktat beenden',
  heardHere: 'Was du sagst, wird auf diesem Gerät zu Text.',
  heardByMaker: 'Was du sagst, geht an den Hersteller deines Browsers, der es in Text wandelt.',
  dictationFailed: 'Der Browser hat nichts aufgenommen. Erlaube dieser Seite das Mikrofon, oder versuche es noch einmal.',
};
