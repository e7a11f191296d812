import { isJsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import type { Message } from '#contract/message.ts';

const charsPerToken = 4;

/** Tokens that so many chars of text make, near enough if no upstream counts (docs/wire.md, Usage). */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}

/** Chars of what a reply says: text, thoughts, arguments of calls. Nothing an upstream sends is trusted. */
export function charsSaid(said: object): number {
  const { content, reasoning_content, reasoning, function_call, tool_calls } = said as Record<string, unknown>;
  let chars = typeof content === 'string' ? content.length : 0;
  if (typeof reasoning_content === 'string') chars += reasoning_content.length;
  if (typeof reasoning === 'string') chars += reasoning.length;
  if (function_call) chars += charsCalled(function_call);
  for (const call of Array.isArray(tool_calls) ? tool_calls : []) chars += isJsonObject(call) ? charsCalled(call.function) : 0;
  return chars;
}

function charsCalled(call: unknown): number {
  return isJsonObject(call) ? lengthOf(call.name) + lengthOf(call.arguments) : 0;
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}

/** Estimated tokens of a request: the text of its messages; images and files count nothing. */
export function estimatePromptTokens({ messages }: Pick<ChatRequest, 'messages'>): number {
  let chars = 0;
  for (const message of messages) chars += typeof message.content === 'string' ? message.content.length : charsOf(message);
  return estimateTokens(chars);
}

/** The same with the tools that go along. */
export function estimateRequestTokens({ messages, tools }: ChatRequest): number {
  return estimatePromptTokens({ messages }) + estimateTokens(tools === undefined ? 0 : JSON.stringify(tools).length);
}

/** Tokens that the reply may have by what its request says; undefined if that says nothing. */
export function maxTokensOf({ max_completion_tokens: most, max_tokens: former, n = 1 }: ChatRequest): number | undefined {
  const bound = typeof most === 'number' ? most : former;
  return bound === undefined ? undefined : bound * n;
}

/** Chars of text in one message. */
export function charsOf({ content }: Message): number {
  if (typeof content === 'string') return content.length;
  let chars = 0;
  for (const part of Array.isArray(content) ? content : []) chars += textLength(part);
  return chars;
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
  return isJsonObject(part) ? lengthOf(part.text) : 0;
}
