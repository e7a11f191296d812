export const searchEnglish = {
  inConversation: 'Found in this chat',
  position: (at: number, count: number) => `${at} of ${count}`,
  notInText: 'in the title or a file name',
  inOtherVersion: 'in another version of a message',
  showVersion: 'Show it',
  earlier: 'Previous match',
  later: 'Next match',
  removeHighlights: 'Remove highlights',
};

export type SearchStrings = typeof searchEnglish;
