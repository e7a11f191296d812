import { createPlural } from '../../strings/create-plural.ts';
import type { ShareStrings } from '../en/share.ts';

const plural = createPlural('es');

export const shareSpanish: ShareStrings = {
  title: 'Compartir con un enlace',
  intro: (message) =>
    `Cualquiera que tenga el enlace y pueda iniciar sesión aquí puede leer esta conversación ${message === '' ? 'hasta ahora' : `hasta tu mensaje «${message}» y su respuesta`}. No ve los mensajes posteriores. Para compartirlos también, crea otro enlace.`,
  linkTitle: (title) => `El título del enlace es «${title}».`,
  linkContent: (name) =>
    `El enlace muestra las preguntas, las respuestas, sus archivos y tu nombre, «${name}». No muestra los pasos, los razonamientos ni los ajustes.`,
  files: (count) => `${count} ${plural(count, 'archivo compartido', 'archivos compartidos')}`,
  attachedByYou: 'Adjuntado por ti',
  fromAnswer: 'De una respuesta',
  worksFor: 'Validez del enlace',
  days: (count) => (count === 365 ? 'un año' : `${count} ${plural(count, 'día', 'días')}`),
  createLink: 'Crear un enlace',
  chatChanged:
    'La conversación ha cambiado desde que se abrió este diálogo. Comprueba el contenido del enlace y vuelve a crearlo.',
  link: 'Enlace',
  copyLink: 'Copiar el enlace',
  copyNow: 'Cópialo ahora. No se volverá a mostrar.',
  yourLinks: 'Todos tus enlaces',
  noLinks: 'No compartes ninguna conversación.',
  linkState: (created, until) => `Muestra la conversación tal como era el ${created}. Válido hasta el ${until}.`,
  revoke: 'Eliminar',
  revokeNamed: (title) => `Eliminar el enlace a ${title}`,
  revokeQuestion: (title) => `¿Eliminar el enlace a «${title}»? Después ya no funcionará para nadie.`,
  revoked: (title) => `El enlace a «${title}» está eliminado y ya no funciona.`,
  shared: 'Conversación compartida',
  sharedBy: (name, date) => `Compartida por ${name} el ${date}`,
  snapshotNote: (date) => `Esta es la conversación tal como era entonces. El enlace es válido hasta el ${date}.`,
  continueInCopy: 'Continuar en una copia',
  copyIsPrivate: (name) => `La copia es privada. ${name} no ve tus mensajes en ella.`,
  copyContinuesWith: (name, next) => `No puedes usar ${name}. La copia continúa con ${next}.`,
  copying: 'Copiando…',
  filesUnavailable: 'Algunos archivos ya no están disponibles. La copia solo contiene sus nombres.',
  notFound: 'Este enlace ya no funciona',
  notFoundReason: 'El enlace se eliminó o caducó, o la conversación se eliminó. Pide uno nuevo a quien te lo envió.',
  newConversation: 'Empezar una conversación nueva',
};
