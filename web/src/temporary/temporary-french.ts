import type { TemporaryWords } from './temporary-english.ts';

export const temporaryFrench: TemporaryWords = {
  strip:
    'Cette conversation n’est gardée nulle part : ni dans ce navigateur, ni par le service. Elle disparaît quand vous la quittez.',
  leaveQuestion: 'Quitter cette conversation temporaire ? Ce qui y a été dit n’est gardé nulle part et disparaîtra.',
  leave: 'Quitter',
  leaveTitle: 'Quitter la conversation temporaire',
};
