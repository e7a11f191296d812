import type { AnswerStrings } from './answer-english.ts';

export const answerGerman: AnswerStrings = {
  goOn: 'Weiter',
  goOnHint: 'Lässt die Antwort dort weitergehen, wo sie endete',
  editAnswer: 'Diese Antwort ändern',
  keepEdit: 'Meine Worte behalten',
  editHint:
    'Deine Worte treten an die Stelle dieser Antwort und werden so gelesen, wenn es weitergeht. Die Antwort selbst bleibt als andere Fassung.',
  editHintEarlier: 'Was auf diese Antwort folgt, bleibt bei jener Fassung.',
  suggestions: 'Als Nächstes fragen',
};
