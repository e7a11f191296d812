import type { SearchStrings } from '../../en/chat/search.ts';

export const searchSpanish: SearchStrings = {
  inConversation: 'Encontrado en esta conversación',
  position: (at, count) => `${at} de ${count}`,
  notInText: 'en el título o en un nombre de archivo',
  inOtherVersion: 'en otra versión de un mensaje',
  showVersion: 'Mostrar',
  earlier: 'Resultado anterior',
  later: 'Resultado siguiente',
  removeHighlights: 'Quitar el resaltado',
};
