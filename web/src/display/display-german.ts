import type { DisplayWords } from './display-english.ts';

export const displayGerman: DisplayWords = {
  textSize: 'Schriftgröße',
  textSizes: { small: 'Klein', medium: 'Mittel', large: 'Groß', largest: 'Sehr groß' },
  density: 'Abstände',
  densities: { roomy: 'Großzügig', compact: 'Kompakt' },
  contrast: 'Kontrast',
  contrasts: { system: 'Wie im System', more: 'Hoch' },
  motion: 'Bewegung',
  motions: { system: 'Wie im System', less: 'Reduziert' },
};
