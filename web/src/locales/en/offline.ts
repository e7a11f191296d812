/** Texts of the page that shows saved chats without a network. Each other language has the same keys. */
export const offlineEnglish = {
  unreachable: (isOffline: boolean) =>
    `${isOffline ? 'You are offline.' : 'The service cannot be reached.'} You can read the chats saved in this browser.`,
  reachable: 'The service can be reached again. Sign in to continue writing.',
  choose: 'Choose a chat to read it.',
  noConversations: 'No chats are saved in this browser.',
};

export type OfflineStrings = typeof offlineEnglish;
