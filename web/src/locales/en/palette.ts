/** Texts of the palette and of the list of shortcuts. */
export const paletteEnglish = {
  title: 'Go to…',
  placeholder: 'A chat, a model, a file, a page, or an action',
  matchCount: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  searchChats: (text: string) => `Search the text of chats for “${text}”`,
  action: 'Action',
  view: 'Go to',
  deployment: 'Chat with',
  conversation: 'Chat',
  file: 'File',

  shortcuts: 'Keyboard shortcuts',
  everywhere: 'Everywhere',
  inMessage: 'While you write a message',
  inLists: 'In lists',
  find: 'Find a chat, a model, a file, a page, or an action',
  newChat: 'Start a new chat',
  showShortcuts: 'Show these shortcuts',
  or: 'or',
  closeDialog: 'Close dialog',
  send: 'Send the message',
  newLine: 'Start a new line',
  editLast: 'Edit your last question, if the message box is empty',
  prompts: 'Insert one of your prompts, at the start of a message',
  otherModels: 'Send this message to other models, at the start of a message',
  previousOrNext: 'Previous or next',
  firstOrLast: 'First or last',
  open: 'Open',
};

export type PaletteStrings = typeof paletteEnglish;
