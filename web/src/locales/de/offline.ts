import type { OfflineStrings } from '../en/offline.ts';

export const offlineGerman: OfflineStrings = {
  unreachable: (isOffline) =>
    `${isOffline ? 'Du bist offline.' : 'Der Dienst ist nicht erreichbar.'} Du kannst die Gespräche lesen, die in diesem Browser gespeichert sind.`,
  reachable: 'Der Dienst ist wieder erreichbar. Melde dich an, um weiterzuschreiben.',
  choose: 'Wähle ein Gespräch, um es zu lesen.',
  noConversations: 'In diesem Browser sind keine Gespräche gespeichert.',
};
