import type { TagsStrings } from './tags-english.ts';

export const tagsFrench: TagsStrings = {
  tagsOfConversation: (title) => `Étiquettes de « ${title} »`,
  newTag: 'Nouvelle étiquette',
  addTag: 'Ajouter',
  done: 'Terminé',
};
