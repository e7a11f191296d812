import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { isInstruction, isResult, type Message } from '#contract/chat/message.ts';
import { countChars, estimateTokens } from './usage.ts';

/**
 * Which messages to leave out so that the others have at most so many tokens, as they are estimated: the oldest first, results
 * together with the message that asked for them, never instructions, and never the last message. Undefined if that is not enough.
 */
export function selectDiscarded({ messages }: Pick<ChatRequest, 'messages'>, maxTokens: number): readonly number[] | undefined {
  let chars = 0;
  for (const message of messages) chars += countChars(message);
  const discarded: number[] = [];
  for (const group of groupMessages(messages)) {
    if (estimateTokens(chars) <= maxTokens) break;
    for (const index of group) chars -= countChars(messages[index] as Message);
    discarded.push(...group);
  }
  return estimateTokens(chars) <= maxTokens ? discarded : undefined;
}

/** Places of messages that stand and fall together, in their order; without what has to stay. */
function groupMessages(messages: readonly Message[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  for (const [index, message] of messages.entries()) {
    if (isInstruction(message)) continue;
    const last = groups.at(-1);
    if (isResult(message) && last !== undefined) last.push(index);
    else groups.push([index]);
  }
  return groups.slice(0, -1);
}
