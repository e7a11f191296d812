export const pickerEnglish = {
  searchDeployments: 'Search models and applications',
  needsConsent: 'Asks for permission first',
  deploymentKind: 'Show',
  kindAll: 'All',
  kindModels: 'Models',
  kindApplications: 'Applications',
  kindFiles: 'Accept files',
  kindTools: 'Use tools',
  favorites: 'Favorites',
  recentlyUsed: 'Recently used',
  ofTheService: 'From this service',
  addFavorite: (name: string) => `Add ${name} to favorites`,
  removeFavorite: (name: string) => `Remove ${name} from favorites`,
  pricePerMillion: (prompt: string, completion: string) => `${prompt} input, ${completion} output per million tokens`,
  readsTokens: (tokens: string) => `reads up to ${tokens} tokens`,
  versions: (name: string) => `Versions of ${name}`,
};

export type PickerStrings = typeof pickerEnglish;
