import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { maxTokensOf } from './usage.ts';

/** Tokens kept for the reply of a model of which only the sum is known. */
const mostForReply = 4_096;
const shareForReply = 1 / 4;
const shareReserved = 1 / 10;
/** However much is to be kept free. */
const leastShare = 1 / 4;

/** Tokens that a request to a model may have, `reserved` of what it takes kept free (default a tenth); undefined if its limits are not known. */
export function toPromptBudget(
  { limits = {} }: Pick<Deployment, 'limits'>,
  request: ChatRequest,
  reserved: number | undefined,
): number | undefined {
  const { maxPromptTokens = Number.POSITIVE_INFINITY, maxTotalTokens = Number.POSITIVE_INFINITY } = limits;
  const forReply =
    maxTokensOf(request) ?? limits.maxCompletionTokens ?? Math.min(mostForReply, Math.ceil(maxTotalTokens * shareForReply));
  const taken = Math.min(maxPromptTokens, Math.max(maxTotalTokens - forReply, maxTotalTokens * leastShare));
  if (!Number.isFinite(taken)) return undefined;
  return Math.floor(Math.max(taken - (reserved ?? Math.ceil(taken * shareReserved)), taken * leastShare));
}
