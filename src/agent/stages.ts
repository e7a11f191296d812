import { tryParseJson } from '#base/json/json.ts';
import type { ContextChange } from './context/context-window.ts';
import { looksLikeJson } from './results/full-results.ts';

export const contextStageName = 'Conversation shortened';

/** Returns the first part of a tool run's stage as Markdown. */
export function toArgumentsMarkdown(argumentsText: string): string {
  const value = tryParseJson(argumentsText);
  const text = value === undefined ? argumentsText : JSON.stringify(value, null, 2);
  return `**Arguments**\n\n${formatCodeBlock(text, 'json')}\n\n`;
}

/** Returns the last part of a tool run's stage as Markdown. */
export function toResultMarkdown(text: string, failed: boolean, durationMs: number): string {
  const title = failed ? '**Failed**' : '**Result**';
  return `${title}\n\n${formatCodeBlock(text, looksLikeJson.test(text) ? 'json' : '')}\n\n_${(durationMs / 1000).toFixed(2)} s_\n`;
}

/** Returns the last part of the stage of a tool run that waits for the user. */
export function toQuestionMarkdown(message: string): string {
  return `**Waiting for an answer**\n\n${message}\n`;
}

/** Returns a code block whose fence the content cannot close. */
function formatCodeBlock(text: string, language: string): string {
  let longest = 2;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Describes a context reduction to the user as Markdown. */
export function toContextMarkdown(change: ContextChange): string {
  const { wasRejected, tokens, clearedResults, summarizedMessages, summaryError } = change;
  const cause = wasRejected
    ? `The model rejected a request of about ${tokens.before} tokens as too long.`
    : `The conversation has about ${tokens.before} tokens. The maximum is ${tokens.max}.`;
  const lines = [
    clearedResults > 0 && `The oldest tool results were cleared: ${clearedResults}. The model can read them again.`,
    summarizedMessages > 0 && `A summary replaces the oldest messages: ${summarizedMessages}.`,
    summaryError !== undefined && `The oldest messages could not be summarized: ${summaryError}`,
    `The request now has about ${tokens.after} tokens.`,
  ];
  return [cause, ...lines.filter((line) => line !== false)].join('\n\n');
}
