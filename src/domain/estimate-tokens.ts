import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';

const charsPerToken = 4;

/** Tokens that so many chars of text make, near enough where no upstream counts (contract 5). */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}

/** Estimated tokens of a request: the text of its messages; images and files count nothing. */
export function estimatePromptTokens({ messages }: ChatRequest): number {
  let chars = 0;
  for (const { content } of messages) {
    if (typeof content === 'string') chars += content.length;
    else for (const part of Array.isArray(content) ? content : []) chars += textLength(part);
  }
  return estimateTokens(chars);
}

function textLength(part: unknown): number {
  return isJsonObject(part) && typeof part.text === 'string' ? part.text.length : 0;
}
