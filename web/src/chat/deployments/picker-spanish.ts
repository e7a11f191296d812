import type { PickerStrings } from './picker-english.ts';

export const pickerSpanish: PickerStrings = {
  searchDeployments: 'Buscar modelos y aplicaciones',
  needsConsent: 'Pide permiso primero',
  deploymentKind: 'Mostrar',
  kindAll: 'Todo',
  kindModels: 'Modelos',
  kindApplications: 'Aplicaciones',
  kindFiles: 'Aceptan archivos',
  kindTools: 'Usan herramientas',
  favourites: 'Favoritos',
  usedLast: 'Usados recientemente',
  ofTheService: 'De este servicio',
  favour: (name) => `Añadir ${name} a favoritos`,
  unfavour: (name) => `Quitar ${name} de favoritos`,
  pricePerMillion: (prompt, completion) => `${prompt} de entrada, ${completion} de salida por millón de tokens`,
  readsTokens: (tokens) => `lee hasta ${tokens} tokens`,
  versions: (name) => `Versiones de ${name}`,
};
