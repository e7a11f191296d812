import type { MemoryStrings } from '../en/memory.ts';

export const memorySpanish: MemoryStrings = {
  hint: '¿Qué debe saber cada chat sobre ti? Escríbelo aquí una vez: tu trabajo, tu idioma o cómo te gustan las respuestas. Solo tú puedes verlo. Los chats temporales y las aplicaciones de otros usuarios no lo reciben.',
  notes: 'Notas sobre ti',
  use: 'Usar las notas en los chats',
  isFull: (max) => `Las notas pueden tener como máximo ${max} caracteres.`,
  saved: 'Guardado. El próximo mensaje de cada chat lo usa.',
};
