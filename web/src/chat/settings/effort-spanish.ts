import type { EffortWords } from './effort-english.ts';

export const effortSpanish: EffortWords = {
  effort: 'Reflexión antes de la respuesta',
  effortHint: 'Reflexionar más ayuda con preguntas difíciles; lleva más tiempo y más tokens.',
  low: 'breve',
  medium: 'media',
  high: 'a fondo',
};
