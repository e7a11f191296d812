import { createPlural } from '../strings/create-plural.ts';
import type { TransferStrings } from './transfer-english.ts';

const plural = createPlural('es');

export const transferSpanish: TransferStrings = {
  transferTitle: 'Importar y exportar',
  exportIntro: 'Un archivo con todas tus conversaciones y todas sus ramas. Se puede volver a importar aquí, en cualquier cuenta.',
  exportAll: 'Exportar todas las conversaciones',
  exporting: 'Leyendo tus conversaciones…',
  exported: (count) => `${count} ${plural(count, 'conversación está', 'conversaciones están')} en el archivo.`,
  exportMissing: (count) =>
    `${count} de ellas no se ${plural(count, 'pudo leer y no está', 'pudieron leer y no están')} en él. Inténtalo más tarde.`,
  importIntro:
    'Un archivo de esta página, conversations.json de la exportación de ChatGPT (descomprime antes el archivo), una exportación de Open WebUI o una conversación que LibreChat exportó como JSON. Lo que ya está aquí no se duplica.',
  chooseFile: 'Elegir un archivo para importar',
  importing: (count) => `${count} ${plural(count, 'leída', 'leídas')}…`,
  added: (count) => `${count} ${plural(count, 'nueva', 'nuevas')}`,
  merged: (count) => `${count} con más intervenciones`,
  same: (count) => `${count} que ya ${plural(count, 'estaba', 'estaban')} aquí`,
  refused: (count) =>
    `${count} que no se ${plural(count, 'pudo', 'pudieron')} leer: no es una conversación, está vacía o es demasiado grande`,
  droppedFiles: (count) =>
    `${count} ${plural(count, 'archivo o imagen quedó', 'archivos e imágenes quedaron')} atrás: el archivo solo contiene sus nombres.`,
  droppedSteps: (count) =>
    `${count} ${plural(count, 'paso', 'pasos')} entre pregunta y respuesta ${plural(count, 'quedó', 'quedaron')} atrás: búsquedas, herramientas, razonamientos.`,
  importTruncated:
    'El archivo contiene más conversaciones de las que se toman a la vez; se omitieron las posteriores a las primeras 50 000.',
  importStopped: 'Detenido. Lo leído hasta ahora está aquí.',
  unknownForm:
    'Este archivo no tiene un formato que se pueda importar: un archivo JSON de esta página, de ChatGPT, de LibreChat o de Open WebUI.',
  tooLarge: 'El archivo ocupa más de 1 GB.',
  transferFailed: 'Algo salió mal. Lo leído hasta ahora está aquí; inténtalo de nuevo.',
};
