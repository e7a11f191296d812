/** What is said of how long a model thinks. */
export const effortEnglish = {
  effort: 'Thinking before the answer',
  effortHint: 'Longer thinking helps with hard questions; it takes more time, and more tokens.',
  low: 'short',
  medium: 'medium',
  high: 'thorough',
};

export type EffortStrings = typeof effortEnglish;
