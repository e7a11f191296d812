import type { SearchWords } from './search-english.ts';

export const searchSpanish: SearchWords = {
  inConversation: 'Encontrado en esta conversación',
  placeOf: (at, count) => `${at} de ${count}`,
  notInText: 'solo en el título',
  earlier: 'Lugar anterior',
  later: 'Lugar siguiente',
  markNoMore: 'No resaltar más las palabras',
};
