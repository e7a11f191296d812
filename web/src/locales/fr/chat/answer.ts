import type { AnswerStrings } from '../../en/chat/answer.ts';

export const answerFrench: AnswerStrings = {
  continueAnswer: 'Continuer',
  continueAnswerHint: 'Continue la réponse là où elle s’est arrêtée',
  editAnswer: 'Modifier cette réponse',
  saveEdit: 'Enregistrer',
  editHint:
    'Votre texte remplace cette réponse quand vous continuez la conversation. La réponse d’origine reste disponible comme autre version.',
  editHintEarlier: 'Les messages qui suivent cette réponse restent avec la version d’origine.',
  fork: 'Continuer à partir d’ici dans une nouvelle conversation',
  forkTitle: (title) => `${title} (copie)`,
  contextUsed: (percent) => `${percent} de la longueur maximale`,
  contextTokens: (used, all) => `${used} des ${all} tokens que le modèle peut lire`,
  costOfChat: (amount) => `${amount} au total`,
  usageOfChat: 'Tokens et coût de cette conversation',
  suggestions: 'Questions pour la suite',
};
