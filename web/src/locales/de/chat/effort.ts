import type { EffortStrings } from '../../en/chat/effort.ts';

export const effortGerman: EffortStrings = {
  thinking: 'Nachdenken',
  effort: 'Nachdenken vor der Antwort',
  effortHint: 'Längeres Nachdenken hilft bei schweren Fragen. Es braucht mehr Zeit und erhöht deinen Verbrauch.',
  low: 'kurz',
  medium: 'mittel',
  high: 'gründlich',
};
