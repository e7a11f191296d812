import type { SearchStrings } from '../../en/chat/search.ts';

export const searchGerman: SearchStrings = {
  inConversation: 'Gefunden in diesem Gespräch',
  position: (at, count) => `${at} von ${count}`,
  notInText: 'im Titel oder in einem Dateinamen',
  inOtherVersion: 'in einer anderen Fassung einer Nachricht',
  showVersion: 'Zeigen',
  earlier: 'Vorheriger Treffer',
  later: 'Nächster Treffer',
  removeHighlights: 'Hervorhebungen entfernen',
};
