/** What the palette and the list of keys say. */
export const paletteEnglish = {
  title: 'Find anything',
  placeholder: 'A conversation, a model, a page, or what to do',
  matchCount: (count: number) => (count === 1 ? 'One found' : `${count} found`),
  noMatches: (query: string) => `Nothing here is called “${query}”.`,
  action: 'Action',
  view: 'Go to',
  deployment: 'Talk to',
  conversation: 'Conversation',

  shortcuts: 'Keyboard shortcuts',
  everywhere: 'Everywhere',
  inMessage: 'While you write a message',
  inLists: 'In lists',
  find: 'Find anything, go anywhere',
  begin: 'Begin a new conversation',
  list: 'Show these shortcuts',
  or: 'or',
  leave: 'Close what lies over the page',
  send: 'Send the message',
  line: 'Begin a new line',
  editLast: 'Change your last question, in an empty message',
  prompts: 'Use one of your prompts, at the beginning of a message',
  others: 'Ask somebody else once, or several, at the beginning of a message',
  neighbours: 'To the one before or behind',
  ends: 'To the first or the last',
  open: 'Open it',
};

export type PaletteStrings = typeof paletteEnglish;
