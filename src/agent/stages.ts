import { tryParseJson } from '#base/json/json.ts';
import type { Attachment, ToolResult } from '#domain/tools/tool.ts';
import type { ContextChange } from './context/context-window.ts';
import type { FullResults } from './results/full-results.ts';
import { truncateText } from './results/truncate-text.ts';

/** Matches text that starts like JSON. Passages also start with a bracket, such as `[1] handbook.md`. */
const looksLikeJson = /^\s*(?:\{|\[(?!\d+\] ))/;
export const contextStageName = 'Conversation shortened';

/** A tool result in the form that the model and the stage show. */
interface VisibleResult {
  /**
   * Text of at most the allowed bytes, with a note if it is truncated. If the limit has no room for the note, only the note.
   */
  readonly text: string;
  /** The complete result, if the text is truncated. */
  readonly fullAttachments: readonly Attachment[];
}

/** Truncates a result that is too long for the model. The note explains how to read on. */
export function toVisibleResult(result: ToolResult, maxBytes: number, results: FullResults): VisibleResult {
  const { note } = result;
  if (note === undefined) return toVisibleText(result, maxBytes, results);
  const { text, fullAttachments } = toVisibleText(result, Math.max(0, maxBytes - Buffer.byteLength(note) - 2), results);
  return { text: `${text}\n\n${note}`, fullAttachments };
}

function toVisibleText(result: ToolResult, maxBytes: number, results: FullResults): VisibleResult {
  const bytes = Buffer.byteLength(result.text);
  if (bytes <= maxBytes) return { text: result.text || '(The tool gave no text.)', fullAttachments: [] };
  const id = results.store(result.text);
  const toNote = (visibleBytes: number, visibleChars: number): string => {
    const further =
      id === undefined ? '' : ` ${results.toolName} with id "${id}" reads on from offset ${visibleChars}, or searches it.`;
    return `\n\n[Cut here: the result has ${bytes} bytes, of which these are the first ${visibleBytes}.${further}]`;
  };
  const truncated = truncateText(result.text, Math.max(0, maxBytes - toNote(maxBytes, maxBytes).length));
  return {
    text: truncated + toNote(Buffer.byteLength(truncated), truncated.length),
    fullAttachments: [
      { title: 'Full result', type: looksLikeJson.test(result.text) ? 'application/json' : 'text/plain', data: result.text },
    ],
  };
}

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
