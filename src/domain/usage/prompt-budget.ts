import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { isInstruction, isResult, type Message } from '#contract/chat/message.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { countChars, estimateTokens, findMaxTokens } from './usage.ts';

/** Maximum number of tokens reserved for the reply if only the total limit is known. */
const maxReplyTokens = 4_096;
const replyShare = 1 / 4;
const reservedShare = 1 / 10;
/** Minimum share for the prompt, regardless of the reservation. */
const minShare = 1 / 4;

/**
 * Returns the maximum number of prompt tokens for a request. Reserves `reserved` tokens, or a tenth by default. Returns
 * undefined if the limits are unknown.
 */
export function computePromptBudget(
  { limits = {} }: Pick<Deployment, 'limits'>,
  request: ChatRequest,
  reserved: number | undefined,
): number | undefined {
  const { maxPromptTokens = Number.POSITIVE_INFINITY, maxTotalTokens = Number.POSITIVE_INFINITY } = limits;
  const replyTokens =
    findMaxTokens(request) ?? limits.maxCompletionTokens ?? Math.min(maxReplyTokens, Math.ceil(maxTotalTokens * replyShare));
  const promptTokens = Math.min(maxPromptTokens, Math.max(maxTotalTokens - replyTokens, maxTotalTokens * minShare));
  if (!Number.isFinite(promptTokens)) return undefined;
  return Math.floor(Math.max(promptTokens - (reserved ?? Math.ceil(promptTokens * reservedShare)), promptTokens * minShare));
}

/**
 * Returns the indices of messages to discard, so that the estimate of the remaining ones is at most `maxTokens`. Discards the
 * oldest messages first, and results together with the message that requested them. Never discards instructions or the last
 * message. Returns undefined if that is not sufficient.
 */
export function selectToDiscard({ messages }: Pick<ChatRequest, 'messages'>, maxTokens: number): readonly number[] | undefined {
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
