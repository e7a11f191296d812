import type { TemporaryStrings } from './temporary-english.ts';

export const temporarySpanish: TemporaryStrings = {
  strip: 'Este chat no se guarda en ninguna parte: ni en este navegador, ni en el servicio. Desaparece cuando sales de él.',
  leaveQuestion: '¿Salir de este chat temporal? Lo que se dijo en él no se guarda en ninguna parte y desaparecerá.',
  confirmLeave: 'Salir',
  leaveTitle: 'Salir del chat temporal',
};
