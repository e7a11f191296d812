import type { OfflineStrings } from './offline-english.ts';

export const offlineFrench: OfflineStrings = {
  away: (isOffline) =>
    `${isOffline ? 'Vous êtes hors ligne.' : 'Le service est injoignable.'} Voici les conversations que ce navigateur a gardées, en lecture seule.`,
  back: 'Le service est de nouveau joignable. Connectez-vous pour continuer à écrire.',
  choose: 'Choisissez une conversation pour la lire.',
  noConversations: 'Ce navigateur n’a gardé aucune de vos conversations.',
};
