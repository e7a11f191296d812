import type { TemporaryStrings } from './temporary-english.ts';

export const temporaryGerman: TemporaryStrings = {
  strip: 'Dieser Chat wird nirgends aufgehoben: nicht in diesem Browser, nicht vom Dienst. Er ist weg, wenn du ihn verlässt.',
  leaveQuestion: 'Diesen temporären Chat verlassen? Was darin gesagt wurde, wird nirgends aufgehoben und ist dann weg.',
  confirmLeave: 'Verlassen',
  leaveTitle: 'Den temporären Chat verlassen',
};
