import type { TemporaryStrings } from './temporary-english.ts';

export const temporaryFrench: TemporaryStrings = {
  strip:
    'Cette conversation n’est gardée nulle part : ni dans ce navigateur, ni par le service. Elle disparaît quand vous la quittez.',
  leaveQuestion: 'Quitter cette conversation temporaire ? Ce qui y a été dit n’est gardé nulle part et disparaîtra.',
  confirmLeave: 'Quitter',
  leaveTitle: 'Quitter la conversation temporaire',
};
