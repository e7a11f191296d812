export const promptsEnglish = {
  prompts: 'Your prompts',
  promptsHint:
    'Keep texts that you use often, and bring one by a / at the beginning of a message. Places such as {{city}} are filled in with Tab.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Add and change prompts…',
};

export type PromptsWords = typeof promptsEnglish;
