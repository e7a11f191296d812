import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { isInstruction, isResult, type Message } from '#contract/chat/message.ts';
import { countChars, estimateTokens } from './usage.ts';

/**
 * Returns the indices of messages to discard, so that the estimate of the remaining ones is at most `maxTokens`. Discards the
 * oldest messages first, and results together with the message that requested them. Never discards instructions or the last
 * message. Returns undefined if that is not sufficient.
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

/**
 * Returns the indices of messages in groups that must be discarded together, in order. Excludes instructions and the last
 * group.
 */
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
