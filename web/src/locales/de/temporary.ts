import type { TemporaryStrings } from '../en/temporary.ts';

export const temporaryGerman: TemporaryStrings = {
  banner:
    'Dieses Gespräch wird nicht gespeichert, weder in diesem Browser noch vom Dienst. Es verschwindet, wenn du es verlässt.',
  leaveQuestion: 'Dieses temporäre Gespräch verlassen? Es ist nicht gespeichert und geht verloren.',
  confirmLeave: 'Verlassen',
  leaveTitle: 'Das temporäre Gespräch verlassen',
};
