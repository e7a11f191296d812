import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';

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

/** Estimated tokens of what is to be embedded; tokens are counted as they are. */
export function estimateInputTokens({ input }: EmbeddingsRequest): number {
  if (typeof input === 'string') return estimateTokens(input.length);
  let tokens = 0;
  for (const item of input)
    tokens += typeof item === 'string' ? estimateTokens(item.length) : typeof item === 'number' ? 1 : item.length;
  return tokens;
}

function textLength(part: unknown): number {
  return isJsonObject(part) && typeof part.text === 'string' ? part.text.length : 0;
}
