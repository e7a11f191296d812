import type { AnswerStrings } from '../../en/chat/answer.ts';

export const answerGerman: AnswerStrings = {
  continueAnswer: 'Fortsetzen',
  continueAnswerHint: 'Setzt die Antwort dort fort, wo sie endete',
  editAnswer: 'Diese Antwort bearbeiten',
  saveEdit: 'Änderung speichern',
  editHint:
    'Dein Text ersetzt diese Antwort, wenn du das Gespräch fortsetzt. Die ursprüngliche Antwort bleibt als andere Version.',
  editHintEarlier: 'Die Nachrichten nach dieser Antwort bleiben bei der ursprünglichen Version.',
  fork: 'Ab hier in einem neuen Gespräch fortsetzen',
  forkTitle: (title) => `${title} (Kopie)`,
  contextUsed: (percent) => `${percent} der maximalen Länge`,
  contextTokens: (used, all) => `${used} der ${all} Token, die das Modell lesen kann`,
  costOfChat: (amount) => `insgesamt ${amount}`,
  usageOfChat: 'Token und Kosten dieses Gesprächs',
  suggestions: 'Als Nächstes fragen',
};
