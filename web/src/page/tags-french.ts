import type { TagsWords } from './tags-english.ts';

export const tagsFrench: TagsWords = {
  tagsOfConversation: (title) => `Étiquettes de « ${title} »`,
  newTag: 'Nouvelle étiquette',
  addTag: 'Ajouter',
  done: 'Terminé',
};
