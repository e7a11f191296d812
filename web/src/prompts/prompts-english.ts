export const promptsEnglish = {
  prompts: 'Your prompts',
  promptsHint:
    'Keep texts that you use often. A / at the beginning of a message brings one in; Tab leads through its blanks, such as {{city}}.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Add and change prompts…',
};

export type PromptsWords = typeof promptsEnglish;
