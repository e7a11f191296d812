import type { TemporaryStrings } from '../en/temporary.ts';

export const temporaryFrench: TemporaryStrings = {
  banner:
    'Cette conversation n’est pas enregistrée, ni dans ce navigateur, ni par le service. Elle disparaît quand vous la quittez.',
  leaveQuestion: 'Quitter cette conversation temporaire ? Elle n’est pas enregistrée et sera perdue.',
  confirmLeave: 'Quitter',
  leaveTitle: 'Quitter la conversation temporaire',
};
