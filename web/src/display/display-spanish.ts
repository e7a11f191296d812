import type { DisplayWords } from './display-english.ts';

export const displaySpanish: DisplayWords = {
  textSize: 'Tamaño del texto',
  textSizes: { small: 'Pequeño', medium: 'Mediano', large: 'Grande', largest: 'Muy grande' },
  density: 'Espaciado',
  densities: { roomy: 'Amplio', compact: 'Compacto' },
  contrast: 'Contraste',
  contrasts: { system: 'Como el sistema', more: 'Alto' },
  motion: 'Animaciones',
  motions: { system: 'Como el sistema', less: 'Reducidas' },
};
