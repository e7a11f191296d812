import type { EffortStrings } from '../../en/chat/effort.ts';

export const effortSpanish: EffortStrings = {
  thinking: 'Razonamiento',
  effort: 'Pensar antes de responder',
  effortHint: 'Pensar más ayuda con preguntas difíciles. Lleva más tiempo y aumenta tu uso.',
  low: 'poco',
  medium: 'normal',
  high: 'a fondo',
};
