import { createPlural } from '../../strings/create-plural.ts';
import type { TransferStrings } from '../en/transfer.ts';

const plural = createPlural('es');

export const transferSpanish: TransferStrings = {
  transferTitle: 'Importar y exportar',
  exportIntro:
    'Un archivo con todas tus conversaciones y todas las versiones de sus mensajes. Puedes volver a importarlo aquí, en cualquier cuenta.',
  exportAll: 'Exportar todas las conversaciones',
  exporting: 'Leyendo tus conversaciones…',
  exported: (count) => `${count} ${plural(count, 'conversación está', 'conversaciones están')} en el archivo.`,
  exportMissing: (count) =>
    `${count} más no se ${plural(count, 'pudo leer y no está', 'pudieron leer y no están')} en él. Inténtalo más tarde.`,
  importIntro:
    'Un archivo de esta página, conversations.json de la exportación de ChatGPT (descomprime antes el archivo), una exportación de Open WebUI o una conversación que LibreChat exportó como JSON. Las conversaciones que ya están aquí no se duplican.',
  chooseFile: 'Elegir un archivo para importar',
  importing: (count) => `${count} ${plural(count, 'conversación leída', 'conversaciones leídas')} hasta ahora…`,
  added: (count) => `${count} ${plural(count, 'conversación nueva', 'conversaciones nuevas')}`,
  merged: (count) => `${count} que ${plural(count, 'recibió', 'recibieron')} más mensajes`,
  same: (count) => `${count} que ya ${plural(count, 'estaba', 'estaban')} aquí`,
  rejected: (count) =>
    `${count} que no se ${plural(count, 'pudo', 'pudieron')} leer: no es una conversación, está vacía o es demasiado grande`,
  droppedFiles: (count) =>
    `${count} ${plural(count, 'archivo o imagen no se importó', 'archivos e imágenes no se importaron')}, porque el archivo importado solo contiene ${plural(count, 'su nombre', 'sus nombres')}.`,
  droppedSteps: (count) =>
    `${count} ${plural(count, 'paso', 'pasos')} entre pregunta y respuesta no se ${plural(count, 'importó', 'importaron')}: búsquedas, herramientas, razonamientos.`,
  importTruncated: 'El archivo contiene demasiadas conversaciones. Solo se leyeron las primeras 50 000.',
  importStopped: 'Detenido. Las conversaciones leídas hasta ahora se han importado.',
  unknownFormat:
    'Este archivo no se puede importar. Elige un archivo JSON de esta página, de ChatGPT, de LibreChat o de Open WebUI.',
  tooLarge: 'El archivo ocupa más de 1 GB y no se puede importar. Elige un archivo más pequeño.',
  importFailed: 'La importación falló. Las conversaciones leídas hasta ahora se han importado. Inténtalo de nuevo.',
  exportFailed: 'La exportación falló. Comprueba la conexión e inténtalo de nuevo.',
};
