import type { CodeWords } from './code-english.ts';

export const codeSpanish: CodeWords = {
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
  way: 'Preguntar con',
  setKey: 'La clave se toma del entorno:',
  inFile: (file) => `En ${file}.`,
};
