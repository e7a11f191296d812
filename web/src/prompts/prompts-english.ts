export const promptsEnglish = {
  prompts: 'Your prompts',
  promptsHint:
    'Keep texts that you use often. A / at the beginning of a message brings one in; Tab leads through its blanks, such as {{city}}.',
  promptName: 'Name',
  promptText: 'Text',
  managePrompts: 'Add and change prompts…',
  bringIn: 'Bring in from a file…',
  saveAll: 'Save all as a file',
  saveOne: (name: string) => `Save “${name}” as a file`,
  broughtIn: (count: number) => (count === 1 ? 'One prompt was added.' : `${count} prompts were added.`),
  noPromptsIn: (file: string) => `${file} has no prompts that can be read.`,
};

export type PromptsStrings = typeof promptsEnglish;
