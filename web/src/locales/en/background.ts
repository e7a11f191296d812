export const backgroundEnglish = {
  title: 'Background answers',
  intro:
    'Answers that programs requested on your behalf in the background. An answer continues if its program disconnects, and is saved here.',
  noAnswers: 'No background answers yet. Programs can request them. For developers: “background: true” in the Responses API.',
  noStore: 'This service does not store answers. Your administrator can turn on storage.',
  all: 'All background answers',
  showMore: 'Show more',
  noQuestionText: 'Question without text',
  states: {
    queued: 'Waiting',
    in_progress: 'In progress',
    completed: 'Done',
    incomplete: 'Incomplete',
    failed: 'Failed',
    cancelled: 'Stopped',
  },
  stop: 'Stop',
  remove: 'Delete',
  removeQuestion: 'Delete this answer permanently? A program that is still waiting for it is notified.',
  continueInChat: 'Continue in a chat',
  removed: 'The answer was deleted.',
  stopped: 'The answer was stopped.',
  ready: 'The answer is ready.',
  reconnecting: 'The connection was lost. Reconnecting…',
  notFound: 'This answer was not found. It was deleted, has expired, or belongs to another user.',
  instructions: 'Instructions',
};

export type BackgroundStrings = typeof backgroundEnglish;
