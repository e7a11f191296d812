import type { PickerStrings } from '../../en/chat/picker.ts';

export const pickerGerman: PickerStrings = {
  searchDeployments: 'Modelle und Anwendungen durchsuchen',
  needsConsent: 'Bittet vorher um Zustimmung',
  deploymentKind: 'Anzeigen',
  kindAll: 'Alle',
  kindModels: 'Modelle',
  kindApplications: 'Anwendungen',
  kindFiles: 'Akzeptieren Dateien',
  kindTools: 'Nutzen Werkzeuge',
  favorites: 'Favoriten',
  recentlyUsed: 'Zuletzt verwendet',
  ofTheService: 'Von diesem Dienst',
  addFavorite: (name) => `${name} zu den Favoriten hinzufügen`,
  removeFavorite: (name) => `${name} aus den Favoriten entfernen`,
  pricePerMillion: (prompt, completion) => `${prompt} Eingabe, ${completion} Ausgabe je Million Token`,
  readsTokens: (tokens) => `liest bis zu ${tokens} Token`,
  versions: (name) => `Versionen von ${name}`,
};
