import type { SearchWords } from './search-english.ts';

export const searchGerman: SearchWords = {
  inConversation: 'Gefunden in diesem Gespräch',
  placeOf: (at, count) => `${at} von ${count}`,
  notInText: 'nur im Titel',
  earlier: 'Vorige Stelle',
  later: 'Nächste Stelle',
  markNoMore: 'Wörter nicht mehr hervorheben',
};
