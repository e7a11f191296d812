import type { CodeStrings } from './code-english.ts';

export const codeSpanish: CodeStrings = {
  title: (name) => `Usar ${name} desde código`,
  intro:
    'También pueden preguntarle los programas y agentes de código que permiten indicar una dirección, una clave y un modelo.',
  address: 'Dirección',
  model: 'Modelo',
  key: 'Clave',
  keyHint:
    'Las claves las entregan quienes gestionan este servicio. Lo que un programa pide con una clave cuenta para su proyecto.',
  ownKey: 'La clave con la que has iniciado sesión también sirve.',
  copyOwnKey: 'Copiar mi clave',
  copyAddress: 'Copiar la dirección',
  copyModel: 'Copiar el modelo',
  client: 'Preguntar con',
  setKey: 'La clave se toma del entorno:',
  inFile: (file) => `En ${file}.`,
  keyBelow:
    'Crea una propia abajo. Te representa: lo que un programa pide con ella cuenta para ti, y no abre más de lo que tú puedes usar.',
  yourKey: 'Tu propia clave',
  keyName: 'Nombre, si quieres',
  worksFor: 'Vale durante',
  days: (count) => (count === 1 ? 'un día' : count === 365 ? 'un año' : `${count} días`),
  makeKey: 'Crear una clave',
  newKey: 'Tu nueva clave',
  once: 'Cópiala ahora: solo se muestra aquí. Las líneas de abajo ya la tienen.',
  full: (count) =>
    count === 1
      ? 'Puedes tener una clave, y ya la tienes. Elimínala para crear otra.'
      : `Tienes ${count} claves, todas las que puedes tener. Elimina una para crear otra.`,
  lastUsed: (when) => `último uso: ${when}`,
  neverUsed: 'sin usar todavía',
  until: (date) => `hasta el ${date}`,
  expired: (date) => `caducó el ${date}`,
  deleteKey: 'Eliminar',
  deleteKeyNamed: (name) => `Eliminar la clave ${name}`,
  keyDeleted: 'La clave se ha eliminado. Los programas que la envían se rechazan desde ahora.',
  copyExport: 'Copiar la línea con la clave',
};
