import type { OfflineStrings } from '../en/offline.ts';

export const offlineFrench: OfflineStrings = {
  unreachable: (isOffline) =>
    `${isOffline ? 'Vous êtes hors ligne.' : 'Le service est injoignable.'} Vous pouvez lire les conversations enregistrées dans ce navigateur.`,
  reachable: 'Le service est de nouveau joignable. Connectez-vous pour continuer à écrire.',
  choose: 'Choisissez une conversation pour la lire.',
  noConversations: 'Aucune conversation n’est enregistrée dans ce navigateur.',
};
