import type { TemporaryStrings } from '../en/temporary.ts';

export const temporarySpanish: TemporaryStrings = {
  banner: 'Esta conversación no se guarda, ni en este navegador ni en el servicio. Desaparece cuando sales de ella.',
  leaveQuestion: '¿Salir de esta conversación temporal? No está guardada y se perderá.',
  confirmLeave: 'Salir',
  leaveTitle: 'Salir de la conversación temporal',
};
