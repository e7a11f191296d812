import type { TagsWords } from './tags-english.ts';

export const tagsGerman: TagsWords = {
  tagsOfConversation: (title) => `Schlagwörter von „${title}“`,
  newTag: 'Neues Schlagwort',
  addTag: 'Hinzufügen',
  done: 'Fertig',
};
