import type { TagsStrings } from './tags-english.ts';

export const tagsGerman: TagsStrings = {
  tagsOfConversation: (title) => `Schlagwörter von „${title}“`,
  newTag: 'Neues Schlagwort',
  addTag: 'Hinzufügen',
  done: 'Fertig',
};
