import { type ChatRequest, parseChatRequest } from '#contract/chat-request.ts';
import { ParleyError } from '#contract/errors.ts';
import type { TokenizeInput } from '#contract/features-request.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import { toDiscard } from '#domain/usage/truncate-prompt.ts';
import { estimateRequestTokens, estimateTokens } from '#domain/usage/usage.ts';

interface Failed {
  readonly status: 'error';
  readonly error: string;
}

/** Tokens of a text or a request, as limits count them where an upstream reports none. */
export function tokenize(input: TokenizeInput, model: Deployment): object {
  return orFailed(() => ({ status: 'success', token_count: countOf(input, model), estimated: true }));
}

function countOf(input: TokenizeInput, model: Deployment): number {
  if (input.type === 'string') return estimateTokens(input.value.length);
  return estimateRequestTokens(prepareRequest(parseChatRequest(input.value), model));
}

/** The messages that a request has to lose to fit the bound it names itself, else that of the model. */
export function truncatePrompt(input: unknown, model: Deployment): object {
  return orFailed(() => {
    const request = parseChatRequest(input);
    const most = boundOf(request, model);
    const discarded = most === undefined ? [] : toDiscard(request, most);
    if (discarded !== undefined) return { status: 'success', discarded_messages: discarded };
    throw new ParleyError(
      'invalid_request',
      `What has to stay, instructions and the last message, has more than ${most} tokens.`,
    );
  });
}

function boundOf(request: ChatRequest, { limits = {} }: Deployment): number | undefined {
  const named = request.max_prompt_tokens ?? undefined;
  if (named !== undefined && !(Number.isSafeInteger(named) && Number(named) >= 1))
    throw new ParleyError('invalid_request', 'max_prompt_tokens must be a whole number of at least 1.');
  if (named !== undefined) return Number(named);
  const { maxPromptTokens, maxTotalTokens, maxCompletionTokens = 0 } = limits;
  return maxPromptTokens ?? (maxTotalTokens && maxTotalTokens - Number(request.max_tokens ?? maxCompletionTokens));
}

/** What is wrong with one input keeps no other from being answered. */
function orFailed(read: () => object): object | Failed {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ParleyError) return { status: 'error', error: thrown.message };
    throw thrown;
  }
}
