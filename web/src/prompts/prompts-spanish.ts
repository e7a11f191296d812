import type { PromptsWords } from './prompts-english.ts';

export const promptsSpanish: PromptsWords = {
  prompts: 'Tus prompts',
  promptsHint:
    'Guarda los textos que usas a menudo; una / al principio de un mensaje los muestra. Los huecos como {{ciudad}} se rellenan con la tecla Tab.',
  promptName: 'Nombre',
  promptText: 'Texto',
  managePrompts: 'Añadir y editar prompts…',
};
