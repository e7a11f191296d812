import type { SearchStrings } from './search-english.ts';

export const searchGerman: SearchStrings = {
  inConversation: 'Gefunden in diesem Gespräch',
  position: (at, count) => `${at} von ${count}`,
  notInText: 'nur im Titel',
  earlier: 'Vorige Stelle',
  later: 'Nächste Stelle',
  removeHighlights: 'Wörter nicht mehr hervorheben',
};
