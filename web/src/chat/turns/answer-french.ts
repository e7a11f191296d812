import type { AnswerStrings } from './answer-english.ts';

export const answerFrench: AnswerStrings = {
  continueAnswer: 'Continuer',
  continueAnswerHint: 'Continue la réponse là où elle s’est arrêtée',
  editAnswer: 'Modifier cette réponse',
  saveEdit: 'Enregistrer',
  editHint:
    'Votre texte remplace cette réponse quand vous continuez la conversation. La réponse d’origine reste comme autre version.',
  editHintEarlier: 'Les messages qui suivent cette réponse restent avec cette version-là.',
  suggestions: 'Questions pour la suite',
};
