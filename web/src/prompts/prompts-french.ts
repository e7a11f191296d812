import { createPlural } from '../strings/create-plural.ts';
import type { PromptsStrings } from './prompts-english.ts';

const plural = createPlural('fr');

export const promptsFrench: PromptsStrings = {
  prompts: 'Vos prompts',
  promptsHint:
    'Gardez les textes que vous utilisez souvent ; / au début d’un message les affiche. Les champs comme {{ville}} se remplissent avec la touche Tab.',
  promptName: 'Nom',
  promptText: 'Texte',
  managePrompts: 'Ajouter et modifier des prompts…',
  bringIn: 'Importer un fichier…',
  saveAll: 'Tout enregistrer dans un fichier',
  saveOne: (name) => `Enregistrer « ${name} » dans un fichier`,
  broughtIn: (count) => `${count} ${plural(count, 'prompt ajouté', 'prompts ajoutés')}.`,
  noPromptsIn: (file) => `${file} ne contient aucun prompt lisible.`,
};
