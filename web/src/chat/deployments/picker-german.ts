import type { PickerStrings } from './picker-english.ts';

export const pickerGerman: PickerStrings = {
  searchDeployments: 'Modelle und Anwendungen durchsuchen',
  needsConsent: 'Fragt vorher um Zustimmung',
  deploymentKind: 'Zeige',
  kindAll: 'Alle',
  kindModels: 'Modelle',
  kindApplications: 'Anwendungen',
  kindFiles: 'Nehmen Dateien',
  kindTools: 'Nutzen Werkzeuge',
  favourites: 'Favoriten',
  usedLast: 'Zuletzt benutzt',
  ofTheService: 'Von diesem Dienst',
  favour: (name) => `${name} zu den Favoriten`,
  unfavour: (name) => `${name} nicht mehr unter den Favoriten`,
  pricePerMillion: (prompt, completion) => `${prompt} hinein, ${completion} heraus je Million Token`,
  readsTokens: (tokens) => `liest bis zu ${tokens} Token`,
  versions: (name) => `Versionen von ${name}`,
};
