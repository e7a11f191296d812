import { createPlural } from '../strings/create-plural.ts';
import type { ShareStrings } from './share-english.ts';

const plural = createPlural('es');

export const shareSpanish: ShareStrings = {
  title: 'Compartir con un enlace',
  intro:
    'Quien tenga el enlace y pueda iniciar sesión aquí lee esta conversación tal como está ahora. Lo que escribas después no se comparte.',
  what: (name) =>
    `Se ven las preguntas, las respuestas y sus archivos, y el nombre ${name}. Los pasos, los razonamientos y los ajustes, no.`,
  files: (count) => `${count} ${plural(count, 'archivo compartido', 'archivos compartidos')}`,
  noFiles: 'No se comparte ningún archivo.',
  attachedByYou: 'Adjuntado por ti',
  fromAnswer: 'De una respuesta',
  worksFor: 'Validez del enlace',
  days: (count) => (count === 365 ? 'un año' : `${count} ${plural(count, 'día', 'días')}`),
  make: 'Crear un enlace',
  link: 'Enlace',
  copyLink: 'Copiar el enlace',
  once: 'Cópialo ahora: solo se muestra aquí.',
  yours: 'Tus enlaces',
  noLinks: 'De momento no compartes nada.',
  until: (date) => `hasta el ${date}`,
  revoke: 'Revocar',
  revokeNamed: (title) => `Revocar el enlace a ${title}`,
  revoked: 'El enlace está revocado. Ya no lleva a ninguna parte.',
  shared: 'Conversación compartida',
  sharedBy: (name, date) => `Compartida por ${name} el ${date}`,
  asThen: (date) => `La lees tal como era entonces. El enlace es válido hasta el ${date}.`,
  goOn: 'Continuar en una copia',
  goOnWhat: (name) => `La copia es solo tuya: ${name} no ve lo que escribes en ella.`,
  copying: 'Copiando…',
  filesUnavailable: 'Algunos de sus archivos ya no se podían leer. La copia solo tiene sus nombres.',
  notFound: 'Este enlace ya no lleva a ninguna parte',
  notFoundReason: 'Se revocó, caducó o se eliminó la conversación. Pide uno nuevo a quien te lo envió.',
  newConversation: 'Empezar una conversación nueva',
};
