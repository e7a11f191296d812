/** What is said of a chat that is kept nowhere. */
export const temporaryEnglish = {
  strip: 'This chat is kept nowhere: not in this browser, not by the service. It is gone when you leave it.',
  leaveQuestion: 'Leave this temporary chat? What was said in it is kept nowhere and will be gone.',
  confirmLeave: 'Leave',
  leaveTitle: 'Leave the temporary chat',
};

export type TemporaryStrings = typeof temporaryEnglish;
