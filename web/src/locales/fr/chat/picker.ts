import type { PickerStrings } from '../../en/chat/picker.ts';

export const pickerFrench: PickerStrings = {
  searchDeployments: 'Rechercher un modèle ou une application',
  needsConsent: 'Demande d’abord votre autorisation',
  deploymentKind: 'Afficher',
  kindAll: 'Tous',
  kindModels: 'Modèles',
  kindApplications: 'Applications',
  kindFiles: 'Acceptent des fichiers',
  kindTools: 'Utilisent des outils',
  favorites: 'Favoris',
  recentlyUsed: 'Utilisés récemment',
  ofTheService: 'De ce service',
  addFavorite: (name) => `Ajouter ${name} aux favoris`,
  removeFavorite: (name) => `Retirer ${name} des favoris`,
  pricePerMillion: (prompt, completion) => `${prompt} en entrée, ${completion} en sortie par million de tokens`,
  readsTokens: (tokens) => `lit jusqu’à ${tokens} tokens`,
  versions: (name) => `Versions de ${name}`,
};
