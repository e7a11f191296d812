export const backgroundEnglish = {
  title: 'Background answers',
  intro:
    'What programs had answered in your name while nobody waited for it. An answer goes on when its program leaves, and is kept here.',
  noAnswers: 'There is none yet. A program asks for one with “background: true” on the Responses API.',
  noStore: 'This service does not keep answers.',
  all: 'All background answers',
  showMore: 'Show more',
  noQuestionText: 'No question in words',
  states: {
    queued: 'Waiting',
    in_progress: 'Being answered',
    completed: 'Done',
    incomplete: 'Cut short',
    failed: 'Failed',
    cancelled: 'Stopped',
  },
  stop: 'Stop',
  remove: 'Delete',
  removeQuestion: 'Delete this answer for good? A program that still follows it is told that it is gone.',
  goOn: 'Go on in a conversation',
  removed: 'The answer was deleted.',
  stopped: 'The answer was stopped.',
  ended: 'The answer is ready.',
  again: 'The connection was lost; following again…',
  notFound: 'There is no such answer: it was deleted, has expired, or belongs to somebody else.',
  instructions: 'Instructions it was given',
};

export type BackgroundStrings = typeof backgroundEnglish;
