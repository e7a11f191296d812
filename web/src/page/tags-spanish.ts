import type { TagsWords } from './tags-english.ts';

export const tagsSpanish: TagsWords = {
  tagsOfConversation: (title) => `Etiquetas de «${title}»`,
  newTag: 'Nueva etiqueta',
  addTag: 'Añadir',
  done: 'Listo',
};
