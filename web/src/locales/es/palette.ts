import { createPlural } from '../../strings/create-plural.ts';
import type { PaletteStrings } from '../en/palette.ts';

const plural = createPlural('es');

export const paletteSpanish: PaletteStrings = {
  title: 'Ir a…',
  placeholder: 'Una conversación, un modelo, un archivo, una página o una acción',
  matchCount: (count) => `${count} ${plural(count, 'resultado', 'resultados')}`,
  searchChats: (text) => `Buscar «${text}» en el texto de las conversaciones`,
  action: 'Acción',
  view: 'Ir a',
  deployment: 'Hablar con',
  conversation: 'Conversación',
  file: 'Archivo',

  shortcuts: 'Atajos de teclado',
  everywhere: 'En todas partes',
  inMessage: 'Al escribir un mensaje',
  inLists: 'En las listas',
  find: 'Encontrar una conversación, un modelo, un archivo, una página o una acción',
  newChat: 'Empezar una conversación nueva',
  showShortcuts: 'Mostrar estos atajos',
  or: 'o',
  closeDialog: 'Cerrar el cuadro de diálogo',
  send: 'Enviar el mensaje',
  newLine: 'Empezar una línea nueva',
  editLast: 'Editar tu última pregunta, si el cuadro de mensaje está vacío',
  prompts: 'Insertar uno de tus prompts, al principio de un mensaje',
  otherModels: 'Enviar este mensaje a otros modelos, al principio de un mensaje',
  previousOrNext: 'Elemento anterior o siguiente',
  firstOrLast: 'Primer o último elemento',
  open: 'Abrir',
};
