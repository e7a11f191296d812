/** Texts of a temporary chat. */
export const temporaryEnglish = {
  banner: 'This chat is not saved in this browser or by the service. It disappears when you leave it.',
  leaveQuestion: 'Leave this temporary chat? It is not saved and will be lost.',
  confirmLeave: 'Leave',
  leaveTitle: 'Leave the temporary chat',
};

export type TemporaryStrings = typeof temporaryEnglish;
