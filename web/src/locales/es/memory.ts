import type { MemoryStrings } from '../en/memory.ts';

export const memorySpanish: MemoryStrings = {
  hint: (visibility) =>
    `¿Qué debe saber cada conversación sobre ti, por ejemplo tu trabajo, tu idioma o cómo te gustan las respuestas? Escríbelo aquí una vez. ${visibility} Las conversaciones temporales y las aplicaciones de otros usuarios no lo reciben.`,
  text: 'Texto de la memoria',
  use: 'Usar la memoria en las conversaciones',
  limitReached: (max) => `La memoria puede tener como máximo ${max} caracteres.`,
  saved: 'Guardado. Se aplica desde el próximo mensaje de cada conversación.',
};
