import type { AnswerStrings } from './answer-english.ts';

export const answerGerman: AnswerStrings = {
  goOn: 'Fortsetzen',
  goOnHint: 'Setzt die Antwort dort fort, wo sie endete',
  editAnswer: 'Diese Antwort bearbeiten',
  keepEdit: 'Änderung speichern',
  editHint:
    'Dein Text ersetzt diese Antwort, wenn du das Gespräch fortsetzt. Die ursprüngliche Antwort bleibt als andere Version.',
  editHintEarlier: 'Die Nachrichten nach dieser Antwort bleiben bei jener Version.',
  suggestions: 'Als Nächstes fragen',
};
