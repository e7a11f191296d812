export const memoryEnglish = {
  hint: (visibility: string) =>
    `What should every chat know about you? Write it here once, such as your work, your language, or how you like answers. ${visibility} Temporary chats and applications of other users do not receive it.`,
  notes: 'Notes about you',
  use: 'Use the notes in chats',
  isFull: (max: number) => `The notes can have at most ${max} characters.`,
  saved: 'Saved. The next message of each chat uses it.',
};

export type MemoryStrings = typeof memoryEnglish;
