import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { findMaxTokens } from './usage.ts';

/** Tokens kept for the reply of a model of which only the sum is known. */
const maxReplyTokens = 4_096;
const replyShare = 1 / 4;
const reservedShare = 1 / 10;
/** However much is to be kept free. */
const minShare = 1 / 4;

/** Tokens that a request to a model may have, `reserved` of what it takes kept free (default a tenth); undefined if its limits are not known. */
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
