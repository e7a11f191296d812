import type { TagsStrings } from './tags-english.ts';

export const tagsSpanish: TagsStrings = {
  tagsOfConversation: (title) => `Etiquetas de «${title}»`,
  newTag: 'Nueva etiqueta',
  addTag: 'Añadir',
  done: 'Listo',
};
