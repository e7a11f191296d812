export const memoryEnglish = {
  hint: (visibility: string) =>
    `What should every chat know about you, such as your work, your language, or how you like answers? Write it here once. ${visibility} Temporary chats and applications of other users do not receive it.`,
  text: 'Memory text',
  use: 'Use the memory in chats',
  limitReached: (max: number) => `The memory can have at most ${max} characters.`,
  saved: 'Saved. This applies from the next message of each chat.',
};

export type MemoryStrings = typeof memoryEnglish;
