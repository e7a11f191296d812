import type { Message } from '#contract/chat/message.ts';
import type { ToolCall } from './turn.ts';

/** What a run added, with the answers to its last turn in the order that the model asked, and what they show behind them. */
export function inOrderAsked(added: readonly Message[]): Message[] {
  const turn = added.findLastIndex(({ role }) => role === 'assistant');
  const calls = (added[turn]?.tool_calls ?? []) as readonly ToolCall[];
  const place = ({ role, tool_call_id: id }: Message): number =>
    role === 'tool' ? calls.findIndex((call) => call.id === id) : calls.length;
  return [...added.slice(0, turn + 1), ...added.slice(turn + 1).sort((one, other) => place(one) - place(other))];
}
