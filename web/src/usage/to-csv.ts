import type { UsageRow } from './read-usage.ts';

/** Rows of usage as separated values (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function toCsv(rows: readonly UsageRow[], withUser: boolean): string {
  const heads = ['day', 'deployment', ...(withUser ? ['user'] : [])];
  const lines = rows.map(({ day, deployment, user, calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost }) => [
    ...[day, deployment, ...(withUser ? [user] : [])].map(toCell),
    ...[calls, failedCalls, refusedCalls, promptTokens, completionTokens, Number(cost.toFixed(9))],
  ]);
  const all = [[...heads, 'calls', 'failed_calls', 'refused_calls', 'prompt_tokens', 'completion_tokens', 'cost_usd'], ...lines];
  return all.map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
