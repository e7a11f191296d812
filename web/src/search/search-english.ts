export const searchEnglish = {
  inConversation: 'Found in this conversation',
  position: (at: number, count: number) => `${at} of ${count}`,
  notInText: 'in its title alone',
  earlier: 'The place before',
  later: 'The next place',
  markNoMore: 'Mark the words no more',
};

export type SearchStrings = typeof searchEnglish;
