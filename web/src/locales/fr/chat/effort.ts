import type { EffortStrings } from '../../en/chat/effort.ts';

export const effortFrench: EffortStrings = {
  thinking: 'Réflexion',
  effort: 'Réflexion avant la réponse',
  effortHint:
    'Réfléchir plus longtemps aide pour les questions difficiles. Cela prend plus de temps et augmente votre utilisation.',
  low: 'courte',
  medium: 'moyenne',
  high: 'approfondie',
};
