import type { CodeStrings } from '../en/code.ts';

export const codeSpanish: CodeStrings = {
  title: (name) => `Usar ${name} desde código`,
  intro: 'Los programas y agentes de código también pueden usarlo, si permiten indicar una dirección, una clave y un modelo.',
  address: 'Dirección',
  model: 'Modelo',
  key: 'Clave',
  keyHint: 'Pide una clave a tu administrador. Las solicitudes hechas con la clave cuentan en el uso y los límites de su equipo.',
  ownKey: 'La clave con la que has iniciado sesión también sirve.',
  copyOwnKey: 'Copiar mi clave',
  copyAddress: 'Copiar la dirección',
  copyModel: 'Copiar el modelo',
  client: 'Usar con',
  setKey: 'Define la clave como variable de entorno:',
  inFile: (file) => `Guarda las líneas de abajo en ${file}.`,
  createKeyHint:
    'Crea tu propia clave abajo. Un programa que la usa actúa como tú: sus solicitudes cuentan para tus límites y no tiene más acceso que tú.',
  yourKey: 'Tu propia clave',
  keyName: 'Nombre (opcional)',
  worksFor: 'Vale durante',
  days: (count) => (count === 1 ? 'un día' : count === 365 ? 'un año' : `${count} días`),
  createKey: 'Crear una clave',
  newKey: 'Tu nueva clave',
  copyNow: 'Cópiala ahora. No se volverá a mostrar. Las líneas de abajo ya la contienen.',
  keyLimit: (count) =>
    count === 1
      ? 'Puedes tener una clave y ya la tienes. Elimínala para crear otra.'
      : `Tienes ${count} claves, que es el máximo. Elimina una para crear otra.`,
  lastUsed: (when) => `último uso: ${when}`,
  neverUsed: 'sin usar todavía',
  validUntil: (date) => `hasta el ${date}`,
  expired: (date) => `caducó el ${date}`,
  deleteKey: 'Eliminar',
  deleteKeyNamed: (name) => `Eliminar la clave ${name}`,
  keyDeleted: 'La clave se ha eliminado. Los programas que la usan ya no tienen acceso.',
  copyExport: 'Copiar la línea con la clave',
};
