import type { MemoryStrings } from '../en/memory.ts';

export const memorySpanish: MemoryStrings = {
  hint: (visibility) =>
    `¿Qué debe saber cada conversación sobre ti? Escríbelo aquí una vez: tu trabajo, tu idioma o cómo te gustan las respuestas. ${visibility} Las conversaciones temporales y las aplicaciones de otros usuarios no lo reciben.`,
  notes: 'Notas sobre ti',
  use: 'Usar las notas en las conversaciones',
  isFull: (max) => `Las notas pueden tener como máximo ${max} caracteres.`,
  saved: 'Guardado. El próximo mensaje de cada conversación lo usa.',
};
