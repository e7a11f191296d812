import type { DictationStrings } from '../../en/chat/dictation.ts';

export const dictationSpanish: DictationStrings = {
  dictate: 'Dictar',
  stopDictating: 'Terminar el dictado',
  recognizedOnDevice: 'Tu voz se convierte en texto en este dispositivo.',
  recognizedOnline: 'Tu voz se envía al fabricante de tu navegador, que la convierte en texto.',
  dictationFailed: 'El navegador no ha captado nada. Permite el micrófono en esta página o inténtalo de nuevo.',
};
