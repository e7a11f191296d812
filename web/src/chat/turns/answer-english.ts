/** Texts of editing and continuing an answer. */
export const answerEnglish = {
  continueAnswer: 'Continue',
  continueAnswerHint: 'Continues the answer where it ended',
  editAnswer: 'Edit this answer',
  saveEdit: 'Save edit',
  editHint: 'Your text replaces this answer when you continue the chat. The original answer stays as another version.',
  editHintEarlier: 'The messages after this answer stay with that version.',
  suggestions: 'Ask next',
};

export type AnswerStrings = typeof answerEnglish;
