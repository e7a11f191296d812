import { createPlural } from '../../strings/create-plural.ts';
import type { PaletteStrings } from '../en/palette.ts';

const plural = createPlural('fr');

export const paletteFrench: PaletteStrings = {
  title: 'Aller à…',
  placeholder: 'Une conversation, un modèle, un fichier, une page ou une action',
  matchCount: (count) => `${count} ${plural(count, 'résultat', 'résultats')}`,
  searchChats: (text) => `Rechercher « ${text} » dans le texte des conversations`,
  action: 'Action',
  view: 'Aller à',
  deployment: 'Discuter avec',
  conversation: 'Conversation',
  file: 'Fichier',

  shortcuts: 'Raccourcis clavier',
  everywhere: 'Partout',
  inMessage: 'En écrivant un message',
  inLists: 'Dans les listes',
  find: 'Trouver une conversation, un modèle, un fichier, une page ou une action',
  newChat: 'Commencer une nouvelle conversation',
  showShortcuts: 'Afficher ces raccourcis',
  or: 'ou',
  closeDialog: 'Fermer la boîte de dialogue',
  send: 'Envoyer le message',
  newLine: 'Commencer une nouvelle ligne',
  editLast: 'Modifier votre dernière question, si le champ de message est vide',
  prompts: 'Insérer un de vos prompts, au début d’un message',
  otherModels: 'Envoyer ce message à d’autres modèles, au début d’un message',
  previousOrNext: 'Élément précédent ou suivant',
  firstOrLast: 'Premier ou dernier élément',
  open: 'Ouvrir',
};
