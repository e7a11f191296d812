import type { Reply } from '../../conversation/conversation.ts';

/**
 * End of a message about missing consent, written for API clients. The page has a button instead. The second wording occurs in
 * stored chats.
 */
// Pattern bound: an error message of at most 2 kB.
const apiHint =
  /(?:\. GET \/v1\/consent\/\S+ returns the (?:form to accept|current form)|; GET \/v1\/consent\/\S+ has the form (?:to accept|of today))/g;

/** Returns a service message without the hint for API clients. */
export function withoutConsentPath(text: string): string {
  return text.replace(apiHint, '');
}

/** Whether a step of a reply was rejected for lack of consent. */
export function hasStageWithoutConsent({ custom }: Reply): boolean {
  if (!Array.isArray(custom.stages)) return false;
  return custom.stages.some(
    ({ status, content }) => status === 'failed' && typeof content === 'string' && content !== withoutConsentPath(content),
  );
}
