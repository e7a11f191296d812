import type { ContextChange } from './context-window.ts';

export const contextStageName = 'Room for the conversation';

/** What the user is told of a change, as markdown. */
export function toContextMarkdown({ wasRefused, tokens, clearedResults, summarizedMessages, fault }: ContextChange): string {
  const why = wasRefused
    ? `The model refused about ${tokens.before} tokens as too many.`
    : `The conversation has about ${tokens.before} tokens, and the model is sent at most ${tokens.most}.`;
  const done = [
    clearedResults > 0 && `The oldest results of tools were cleared: ${clearedResults}. The model can read them again.`,
    summarizedMessages > 0 && `A summary stands for the oldest messages: ${summarizedMessages}.`,
    fault !== undefined && `The oldest messages could not be summed up: ${fault}`,
    `It is sent about ${tokens.after} tokens now.`,
  ];
  return [why, ...done.filter((line) => line !== false)].join('\n\n');
}
