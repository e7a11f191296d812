import type { DisplayWords } from './display-english.ts';

export const displayFrench: DisplayWords = {
  textSize: 'Taille du texte',
  textSizes: { small: 'Petite', medium: 'Moyenne', large: 'Grande', largest: 'Très grande' },
  density: 'Espacement',
  densities: { roomy: 'Aéré', compact: 'Resserré' },
  contrast: 'Contraste',
  contrasts: { system: 'Comme le système', more: 'Élevé' },
  motion: 'Animations',
  motions: { system: 'Comme le système', less: 'Réduites' },
};
