import type { SearchStrings } from '../../en/chat/search.ts';

export const searchFrench: SearchStrings = {
  inConversation: 'Trouvé dans cette conversation',
  position: (at, count) => `${at} sur ${count}`,
  notInText: 'dans le titre ou un nom de fichier',
  inOtherVersion: 'dans une autre version d’un message',
  showVersion: 'Afficher',
  earlier: 'Résultat précédent',
  later: 'Résultat suivant',
  removeHighlights: 'Retirer le surlignage',
};
