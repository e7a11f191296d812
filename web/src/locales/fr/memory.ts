import type { MemoryStrings } from '../en/memory.ts';

export const memoryFrench: MemoryStrings = {
  hint: (visibility) =>
    `Que doit savoir chaque conversation à votre sujet, par exemple votre travail, votre langue ou le style de réponse que vous aimez ? Écrivez-le ici une fois. ${visibility} Les conversations temporaires et les applications d’autres utilisateurs ne le reçoivent pas.`,
  text: 'Texte de la mémoire',
  use: 'Utiliser la mémoire dans les conversations',
  limitReached: (max) => `La mémoire peut avoir au plus ${max} caractères.`,
  saved: 'Enregistré. Cela s’applique dès le prochain message de chaque conversation.',
};
