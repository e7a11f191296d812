import type { DictationStrings } from './dictation-english.ts';

export const dictationSpanish: DictationStrings = {
  dictate: 'Dictar',
  stopDictating: 'Terminar el dictado',
  heardHere: 'Lo que dices se convierte en texto en este equipo.',
  heardByMaker: 'Lo que dices se envía al fabricante de tu navegador, que lo convierte en texto.',
  dictationFailed: 'El navegador no ha captado nada. Permite el micrófono en esta página o inténtalo de nuevo.',
};
