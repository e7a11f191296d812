export const pickerEnglish = {
  searchDeployments: 'Search models and applications',
  needsConsent: 'Others ask before using it',
  deploymentKind: 'Show',
  kindAll: 'All',
  kindModels: 'Models',
  kindApplications: 'Applications',
  kindFiles: 'Take files',
  kindTools: 'Use tools',
  favourites: 'Favourites',
  usedLast: 'Used last',
  ofTheService: 'Of this service',
  favour: (name: string) => `Make ${name} a favourite`,
  unfavour: (name: string) => `${name} is a favourite: no longer`,
  pricePerMillion: (prompt: string, completion: string) => `${prompt} in, ${completion} out a million tokens`,
  readsTokens: (tokens: string) => `reads up to ${tokens} tokens`,
  versions: (name: string) => `Versions of ${name}`,
};

export type PickerStrings = typeof pickerEnglish;
