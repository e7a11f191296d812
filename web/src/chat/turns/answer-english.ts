/** What is said of changing an answer. */
export const answerEnglish = {
  goOn: 'Go on',
  goOnHint: 'Has the answer go on where it ended',
  editAnswer: 'Edit this answer',
  keepEdit: 'Keep my words',
  editHint:
    'Your words take the place of this answer, and are read as such when you go on. The answer itself stays as another version.',
  editHintEarlier: 'What follows this answer stays with that version.',
  suggestions: 'Ask next',
};

export type AnswerStrings = typeof answerEnglish;
