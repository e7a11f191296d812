import type { SearchWords } from './search-english.ts';

export const searchFrench: SearchWords = {
  inConversation: 'Trouvé dans cette conversation',
  placeOf: (at, count) => `${at} sur ${count}`,
  notInText: 'seulement dans le titre',
  earlier: 'Passage précédent',
  later: 'Passage suivant',
  markNoMore: 'Ne plus surligner les mots',
};
