import type { PromptsWords } from './prompts-english.ts';

export const promptsFrench: PromptsWords = {
  prompts: 'Vos prompts',
  promptsHint:
    'Gardez les textes que vous utilisez souvent ; / au début d’un message les affiche. Les champs comme {{ville}} se remplissent avec la touche Tab.',
  promptName: 'Nom',
  promptText: 'Texte',
  managePrompts: 'Ajouter et modifier des prompts…',
};
