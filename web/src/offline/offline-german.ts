import type { OfflineStrings } from './offline-english.ts';

export const offlineGerman: OfflineStrings = {
  away: (isOffline) =>
    `${isOffline ? 'Du bist offline.' : 'Der Dienst ist nicht erreichbar.'} Das sind die Unterhaltungen, die dieser Browser hat, zum Lesen.`,
  back: 'Der Dienst ist wieder erreichbar. Melde dich an, um weiterzuschreiben.',
  choose: 'Wähle eine Unterhaltung, um sie zu lesen.',
  noConversations: 'Dieser Browser hat keine deiner Unterhaltungen.',
};
