import { createPlural } from '../../strings/create-plural.ts';
import type { PromptsStrings } from '../en/prompts.ts';

const plural = createPlural('es');

export const promptsSpanish: PromptsStrings = {
  prompts: 'Tus prompts',
  promptsHint:
    'Guarda los textos que usas a menudo. Escribe / al principio de un mensaje para insertar uno. Tab recorre sus huecos, como {{ciudad}}.',
  promptName: 'Nombre',
  promptText: 'Texto',
  managePrompts: 'Gestionar prompts…',
  shared: 'Compartidos contigo',
  copyShared: 'Copiar a tus prompts',
  importPrompts: 'Importar de un archivo…',
  exportAll: 'Guardar todos en un archivo',
  exportOne: (name) => `Guardar «${name}» en un archivo`,
  imported: (count) => `${count} ${plural(count, 'prompt añadido', 'prompts añadidos')}.`,
  noPromptsIn: (file) => `${file} no contiene prompts legibles.`,
};
