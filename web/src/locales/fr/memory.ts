import type { MemoryStrings } from '../en/memory.ts';

export const memoryFrench: MemoryStrings = {
  hint: (visibility) =>
    `Que doit savoir chaque conversation à votre sujet ? Écrivez-le ici une fois, par exemple votre travail, votre langue ou le style de réponse que vous aimez. ${visibility} Les conversations temporaires et les applications d’autres utilisateurs ne le reçoivent pas.`,
  notes: 'Notes à votre sujet',
  use: 'Utiliser les notes dans les conversations',
  isFull: (max) => `Les notes peuvent avoir au plus ${max} caractères.`,
  saved: 'Enregistré. Le prochain message de chaque conversation l’utilise.',
};
