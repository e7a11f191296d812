/** What is said where conversations are read without a network. Another language has the same keys. */
export const offlineEnglish = {
  away: (isOffline: boolean) =>
    `${isOffline ? 'You are offline.' : 'The service cannot be reached.'} These are the conversations this browser has, for reading.`,
  back: 'The service can be reached again. Sign in to go on writing.',
  choose: 'Choose a conversation to read it.',
  noConversations: 'This browser has no conversation of yours.',
};

export type OfflineStrings = typeof offlineEnglish;
