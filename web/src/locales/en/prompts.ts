export const promptsEnglish = {
  prompts: 'Your prompts',
  promptsHint:
    'Save texts that you use often. Type / at the start of a message to insert one. Tab moves through its blanks, such as {{city}}.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Manage prompts…',
  shared: 'Shared with you',
  copyShared: 'Copy to your prompts',
  importPrompts: 'Import from a file…',
  exportAll: 'Save all as a file',
  exportOne: (name: string) => `Save “${name}” as a file`,
  imported: (count: number) => (count === 1 ? 'One prompt was added.' : `${count} prompts were added.`),
  noPromptsIn: (file: string) => `${file} contains no readable prompts.`,
};

export type PromptsStrings = typeof promptsEnglish;
