import type { EffortStrings } from './effort-english.ts';

export const effortGerman: EffortStrings = {
  effort: 'Nachdenken vor der Antwort',
  effortHint: 'Längeres Nachdenken hilft bei schweren Fragen. Es braucht mehr Zeit und mehr Token.',
  low: 'kurz',
  medium: 'mittel',
  high: 'gründlich',
};
