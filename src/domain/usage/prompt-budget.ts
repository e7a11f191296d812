import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { findMaxTokens } from './usage.ts';

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
