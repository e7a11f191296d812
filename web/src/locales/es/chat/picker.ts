import type { PickerStrings } from '../../en/chat/picker.ts';

export const pickerSpanish: PickerStrings = {
  searchDeployments: 'Buscar modelos y aplicaciones',
  needsConsent: 'Pide permiso primero',
  deploymentKind: 'Mostrar',
  kindAll: 'Todo',
  kindModels: 'Modelos',
  kindApplications: 'Aplicaciones',
  kindFiles: 'Aceptan archivos',
  kindTools: 'Usan herramientas',
  favorites: 'Favoritos',
  recentlyUsed: 'Usados recientemente',
  ofTheService: 'De este servicio',
  addFavorite: (name) => `Añadir ${name} a favoritos`,
  removeFavorite: (name) => `Quitar ${name} de favoritos`,
  pricePerMillion: (prompt, completion) => `${prompt} de entrada, ${completion} de salida por millón de tokens`,
  readsTokens: (tokens) => `lee hasta ${tokens} tokens`,
  versions: (name) => `Versiones de ${name}`,
};
