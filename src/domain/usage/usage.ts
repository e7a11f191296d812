import { isJsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { unitsPerUsd } from '../limits/limits.ts';

/** Maximum of one call. A higher count is an error of the upstream. */
export const maxTokens = 1_000_000_000;

export interface TokenCounts {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** The item of `usage_per_model` of a reply that one model answered. */
export function toModelUsage(model: string, { prompt_tokens = 0, completion_tokens = 0 }: Partial<TokenCounts> = {}): ModelUsage {
  const total_tokens = prompt_tokens + completion_tokens;
  return { index: 0, model, name: model, prompt_tokens, completion_tokens, total_tokens };
}

/**
 * Items of `usage_per_model`, one for each model, summed and numbered anew (docs/wire.md, Usage). Items without a name are left out,
 * and declared counts are never added to counts that Parley metered. A sum stays within `maxTokens`.
 */
export function toModelUsages(items: readonly ModelUsage[] | undefined): ModelUsage[] {
  const byName = new Map<string, ModelUsage>();
  for (const item of Array.isArray(items) ? items : []) {
    const name = item?.model ?? item?.name;
    if (typeof name !== 'string') continue;
    const isDeclared = item.declared === true;
    const key = isDeclared ? `declared ${name}` : `metered ${name}`;
    const usage = byName.get(key) ?? { ...toModelUsage(name), index: byName.size };
    usage.prompt_tokens = addCounts(usage.prompt_tokens, toCount(item.prompt_tokens));
    usage.completion_tokens = addCounts(usage.completion_tokens, toCount(item.completion_tokens));
    usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
    if (item.estimated === true) usage.estimated = true;
    if (isDeclared) usage.declared = true;
    byName.set(key, usage);
  }
  return [...byName.values()];
}

/** The sum of counts. Prompt and completion stay within `maxTokens` each, so that a sum is never taken for a count that cannot be. */
export function sumCounts(items: readonly TokenCounts[]): TokenCounts {
  const sum = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  for (const item of items) {
    sum.prompt_tokens = addCounts(sum.prompt_tokens, item.prompt_tokens);
    sum.completion_tokens = addCounts(sum.completion_tokens, item.completion_tokens);
  }
  sum.total_tokens = sum.prompt_tokens + sum.completion_tokens;
  return sum;
}

function addCounts(left: number, right: number): number {
  return Math.min(maxTokens, left + right);
}

/** A count that an upstream reports: whole, 0 for anything else. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= maxTokens ? Math.round(value) : 0;
}

/** Adds up the tokens of calls that belong together: those of a run, or those that an application makes while it answers one. */
export class UsageCollector {
  #items: readonly ModelUsage[] = [];

  add(items: readonly ModelUsage[]): void {
    this.#items = toModelUsages([...this.#items, ...items]);
  }

  /** One item for each model; empty if nothing was used. */
  get items(): readonly ModelUsage[] {
    return this.#items;
  }

  /** `usage` is the sum, `statistics` the parts (docs/wire.md, Usage). */
  totals(): { usage: Usage; statistics: Statistics } {
    return { usage: sumCounts(this.#items) as Usage, statistics: { usage_per_model: [...this.#items] } };
  }
}

/** Token counts as an upstream reports them, with what it says of its cache. */
type PricedCounts = Readonly<TokenCounts> & { readonly prompt_tokens_details?: unknown };

/** Tokens of one model, with what its upstream says of its cache. */
export type PricedUsage = ModelUsage & { readonly prompt_tokens_details?: unknown };

/** Tokens of a prompt that an upstream read from its cache, or wrote to it. */
interface CachedCounts {
  readonly readTokens: number;
  /** All that were written, those for an hour included. */
  readonly writtenTokens: number;
  readonly hourWrittenTokens: number;
}

/** Returns the cache reads and writes that an upstream reports, never more than the prompt has. */
export function countCached({ prompt_tokens, prompt_tokens_details: reported }: PricedCounts): CachedCounts {
  const details = isJsonObject(reported) ? reported : {};
  const readTokens = toBounded(prompt_tokens, details.cached_tokens);
  const writtenTokens = toBounded(prompt_tokens - readTokens, details.cache_write_tokens);
  return { readTokens, writtenTokens, hourWrittenTokens: toBounded(writtenTokens, details.cache_write_1h_tokens) };
}

/**
 * Returns the cost of a reply and its tokens, in billionths of a USD. Cached tokens cost `cacheRead`, `cacheWrite` and
 * `cacheWrite1h` if
 * the upstream reports them, else `prompt`. Without pricing, as for applications, the cost is 0, because inner calls are charged
 * at the deployment that answers them.
 */
export function computeCost({ pricing }: Pick<Deployment, 'pricing'>, usage: PricedCounts): number {
  if (pricing === undefined) return 0;
  const { request = 0, prompt = 0, completion = 0, cacheRead = prompt, cacheWrite = prompt } = pricing;
  const { cacheWrite1h = cacheWrite } = pricing;
  const { readTokens, writtenTokens, hourWrittenTokens } = countCached(usage);
  const fresh = usage.prompt_tokens - readTokens - writtenTokens;
  const caching = readTokens * cacheRead + (writtenTokens - hourWrittenTokens) * cacheWrite + hourWrittenTokens * cacheWrite1h;
  const usd = request + fresh * prompt + caching + usage.completion_tokens * completion;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(usd * unitsPerUsd)));
}

function toBounded(max: number, value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(max, Math.round(value)) : 0;
}

const charsPerToken = 4;

/** Tokens that so many chars of text make, near enough if no upstream counts (docs/wire.md, Usage). */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}

/** Chars of what a reply says: text, thoughts, arguments of calls. Nothing an upstream sends is trusted. */
export function countReplyChars(reply: object): number {
  const { content, reasoning_content, reasoning } = reply as Record<string, unknown>;
  let chars = countCallChars(reply);
  if (typeof content === 'string') chars += content.length;
  if (typeof reasoning_content === 'string') chars += reasoning_content.length;
  if (typeof reasoning === 'string') chars += reasoning.length;
  return chars;
}

/** Returns the chars in the names and arguments of the calls of a message or delta. */
function countCallChars(message: object): number {
  const { function_call: call, tool_calls: calls } = message as Record<string, unknown>;
  let chars = countSingleCallChars(call);
  if (!Array.isArray(calls)) return chars;
  for (const item of calls)
    if (isJsonObject(item)) chars += countSingleCallChars(item.function) + countSingleCallChars(item.custom);
  return chars;
}

/** The arguments of a custom tool are its `input`. */
function countSingleCallChars(call: unknown): number {
  return isJsonObject(call) ? getLength(call.name) + getLength(call.arguments) + getLength(call.input) : 0;
}

function getLength(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}

/** Estimates the tokens of a request: the text and the calls of its messages. Images and files count nothing. */
export function estimatePromptTokens({ messages }: Pick<ChatRequest, 'messages'>): number {
  let chars = 0;
  for (const message of messages) chars += countChars(message);
  return estimateTokens(chars);
}

/** The same with the tools that go along. */
export function estimateRequestTokens({ messages, tools }: ChatRequest): number {
  return estimatePromptTokens({ messages }) + estimateTokens(tools === undefined ? 0 : JSON.stringify(tools).length);
}

/** Tokens that the reply may have by what its request says; undefined if that says nothing. */
export function findMaxTokens({
  max_completion_tokens: maxCompletionTokens,
  max_tokens: legacyMaxTokens,
  n = 1,
}: ChatRequest): number | undefined {
  const bound = typeof maxCompletionTokens === 'number' && maxCompletionTokens > 0 ? maxCompletionTokens : legacyMaxTokens;
  return bound === undefined ? undefined : Math.min(Math.ceil(bound) * n, Number.MAX_SAFE_INTEGER);
}

/** Returns the chars of text in one message, and in its calls. */
export function countChars(message: Message): number {
  const { content } = message;
  let chars = countCallChars(message);
  if (typeof content === 'string') return chars + content.length;
  for (const part of Array.isArray(content) ? content : []) chars += countPartChars(part);
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

function countPartChars(part: unknown): number {
  return isJsonObject(part) ? getLength(part.text) : 0;
}
