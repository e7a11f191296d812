import type { AnswerStrings } from './answer-english.ts';

export const answerFrench: AnswerStrings = {
  goOn: 'Continuer',
  goOnHint: 'Fait continuer la réponse là où elle s’est arrêtée',
  editAnswer: 'Modifier cette réponse',
  keepEdit: 'Garder mon texte',
  editHint:
    'Votre texte prend la place de cette réponse et sera lu comme tel pour la suite. La réponse elle-même reste comme autre version.',
  editHintEarlier: 'Ce qui suit cette réponse reste avec cette version-là.',
  suggestions: 'Questions pour la suite',
};
