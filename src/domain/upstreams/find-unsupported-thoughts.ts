import type { Message } from '#contract/chat/message.ts';
import { protocols } from '#contract/configuration/protocols.ts';
import { speaksMessages, type Upstream } from './upstream.ts';

/** Names of thoughts in messages, as `Parley-Ignored` reports them on the chat surface. */
export const thoughtFields = { plain: 'messages.reasoning_content', signed: 'messages.thinking_blocks' } as const;

/** Returns whether an upstream accepts the plain thoughts of earlier turns. Strict servers reject a request with them. */
export function acceptsReasoning(upstream: Upstream): boolean {
  return upstream.acceptsReasoning ?? (protocols[upstream.protocol].acceptsReasoning(upstream) && servesChat(upstream));
}

/**
 * Returns the names of thoughts in the messages that an upstream does not receive. `isTranslated` means that the client uses
 * another dialect, so that it did not choose these fields.
 */
export function findUnsupportedThoughts(messages: readonly Message[], upstream: Upstream, isTranslated: boolean): string[] {
  let [hasPlain, hasSigned] = [false, false];
  for (const { reasoning_content, thinking_blocks } of messages) {
    if (reasoning_content !== undefined) hasPlain = true;
    if (thinking_blocks !== undefined) hasSigned = true;
  }
  const unsupported: string[] = [];
  if (hasPlain && !acceptsReasoning(upstream)) unsupported.push(thoughtFields.plain);
  if (hasSigned && !acceptsThinkingBlocks(upstream, isTranslated)) unsupported.push(thoughtFields.signed);
  return unsupported;
}

function acceptsThinkingBlocks(upstream: Upstream, isTranslated: boolean): boolean {
  const { thoughtFormat: vendorFormat, callsDeployments, usesChatDialect } = protocols[upstream.protocol];
  if (speaksMessages(upstream) || vendorFormat === 'claude' || callsDeployments) return true;
  return usesChatDialect && servesChat(upstream) && !isTranslated;
}

/** Returns whether Parley calls the chat API of an upstream. The Responses API has no equivalent of these fields. */
function servesChat({ apis }: Upstream): boolean {
  return apis === undefined || apis.includes('chat');
}
