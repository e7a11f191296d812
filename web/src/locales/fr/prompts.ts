import { createPlural } from '../../strings/create-plural.ts';
import type { PromptsStrings } from '../en/prompts.ts';

const plural = createPlural('fr');

export const promptsFrench: PromptsStrings = {
  prompts: 'Vos prompts',
  promptsHint:
    'Enregistrez les textes que vous utilisez souvent. Tapez / au début d’un message pour en insérer un. Tab passe d’un champ à l’autre, comme {{ville}}.',
  promptName: 'Nom',
  promptText: 'Texte',
  managePrompts: 'Gérer les prompts…',
  shared: 'Partagés avec vous',
  copyShared: 'Copier dans vos prompts',
  importPrompts: 'Importer un fichier…',
  exportAll: 'Tout enregistrer dans un fichier',
  exportOne: (name) => `Enregistrer « ${name} » dans un fichier`,
  imported: (count) => `${count} ${plural(count, 'prompt ajouté', 'prompts ajoutés')}.`,
  noPromptsIn: (file) => `${file} ne contient aucun prompt lisible.`,
};
