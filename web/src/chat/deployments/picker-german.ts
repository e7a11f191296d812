import type { PickerStrings } from './picker-english.ts';

export const pickerGerman: PickerStrings = {
  searchDeployments: 'Modelle und Anwendungen durchsuchen',
  needsConsent: 'Andere fragen, bevor sie es nutzen',
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
  pricePerMillion: (prompt, completion) => `${prompt} hinein, ${completion} heraus je Million Tokens`,
  readsTokens: (tokens) => `liest bis zu ${tokens} Tokens`,
  versions: (name) => `Versionen von ${name}`,
};
