import { createPlural } from '../strings/create-plural.ts';
import type { PaletteStrings } from './palette-english.ts';

const plural = createPlural('fr');

export const paletteFrench: PaletteStrings = {
  title: 'Tout rechercher',
  placeholder: 'Une conversation, un modèle, une page ou une action',
  matchCount: (count) => `${count} ${plural(count, 'résultat', 'résultats')}`,
  noMatches: (query) => `Rien ici ne s’appelle « ${query} ».`,
  action: 'Action',
  view: 'Aller à',
  deployment: 'Discuter avec',
  conversation: 'Conversation',

  shortcuts: 'Raccourcis clavier',
  everywhere: 'Partout',
  inMessage: 'En écrivant un message',
  inLists: 'Dans les listes',
  find: 'Tout rechercher, aller partout',
  begin: 'Commencer une nouvelle conversation',
  list: 'Afficher ces raccourcis',
  or: 'ou',
  leave: 'Fermer ce qui recouvre la page',
  send: 'Envoyer le message',
  line: 'Commencer une nouvelle ligne',
  editLast: 'Modifier votre dernière question, dans un message vide',
  prompts: 'Utiliser un de vos prompts, au début d’un message',
  others: 'Interroger une fois quelqu’un d’autre, ou plusieurs, au début d’un message',
  neighbours: 'Élément précédent ou suivant',
  ends: 'Premier ou dernier élément',
  open: 'Ouvrir',
};
