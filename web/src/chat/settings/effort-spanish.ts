import type { EffortStrings } from './effort-english.ts';

export const effortSpanish: EffortStrings = {
  effort: 'Reflexión antes de la respuesta',
  effortHint: 'Reflexionar más ayuda con preguntas difíciles; lleva más tiempo y más tokens.',
  low: 'breve',
  medium: 'media',
  high: 'a fondo',
};
