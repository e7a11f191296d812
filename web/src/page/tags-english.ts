export const tagsEnglish = {
  tagsOfConversation: (title: string) => `Tags of “${title}”`,
  newTag: 'New tag',
  addTag: 'Add',
  done: 'Done',
};

export type TagsStrings = typeof tagsEnglish;
