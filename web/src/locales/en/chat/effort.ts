/** Texts of the choice of how long a model thinks. */
export const effortEnglish = {
  thinking: 'Thinking',
  effort: 'Thinking before the answer',
  effortHint: 'Longer thinking helps with hard questions. It takes more time and adds more to your usage.',
  low: 'short',
  medium: 'medium',
  high: 'thorough',
};

export type EffortStrings = typeof effortEnglish;
