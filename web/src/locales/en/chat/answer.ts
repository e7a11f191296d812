/** Texts of editing and continuing an answer. */
export const answerEnglish = {
  continueAnswer: 'Continue',
  continueAnswerHint: 'Continues the answer where it ended',
  editAnswer: 'Edit this answer',
  saveEdit: 'Save edit',
  editHint: 'Your text replaces this answer when you continue the chat. The original answer stays as another version.',
  editHintEarlier: 'The messages after this answer stay with the original version.',
  fork: 'Continue in a new chat from here',
  forkTitle: (title: string) => `${title} (copy)`,
  contextUsed: (percent: string) => `${percent} of the maximum length`,
  contextTokens: (used: string, all: string) => `${used} of the ${all} tokens that the model can read`,
  costOfChat: (amount: string) => `${amount} in total`,
  usageOfChat: 'Tokens and cost of this chat',
  suggestions: 'Ask next',
};

export type AnswerStrings = typeof answerEnglish;
