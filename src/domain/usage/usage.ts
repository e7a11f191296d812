import { isJsonObject, toObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage, Statistics, Usage } from '#contract/chat/chunk.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { unitsPerUsd } from '../limits/limits.ts';

/** Maximum number of tokens in one call. A higher count is an error of the upstream. */
export const maxTokensPerCall = 1_000_000_000;

export interface TokenCounts {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** Returns an item of `usage_per_model` for the reply of one model. */
export function toModelUsage(model: string, { prompt_tokens = 0, completion_tokens = 0 }: Partial<TokenCounts> = {}): ModelUsage {
  const total_tokens = prompt_tokens + completion_tokens;
  return { index: 0, model, name: model, prompt_tokens, completion_tokens, total_tokens };
}

/**
 * Returns items of `usage_per_model`, summed per model and renumbered (docs/wire.md, Usage). Omits items without a name, and
 * never adds declared counts to counts that Parley metered. Each sum is at most `maxTokensPerCall`.
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

/** Returns the sum of counts. Prompt and completion are at most `maxTokensPerCall` each, so that no sum is an invalid count. */
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
  return Math.min(maxTokensPerCall, left + right);
}

/** Returns a reported count as an integer, or 0 if it is invalid. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && value > 0 && value <= maxTokensPerCall ? Math.round(value) : 0;
}

/** Sums the tokens of related calls: the calls of a run, or the inner calls of an application. */
export class UsageCollector {
  #items: readonly ModelUsage[] = [];

  add(items: readonly ModelUsage[]): void {
    this.#items = toModelUsages([...this.#items, ...items]);
  }

  /** Items per model. Empty if no tokens were used. */
  get items(): readonly ModelUsage[] {
    return this.#items;
  }

  /** Returns the sum as `usage` and the items as `statistics` (docs/wire.md, Usage). */
  getTotals(): { usage: Usage; statistics: Statistics } {
    return { usage: sumCounts(this.#items) as Usage, statistics: { usage_per_model: [...this.#items] } };
  }
}

/** Token counts and cache details as an upstream reports them. */
type PricedCounts = Readonly<TokenCounts> & { readonly prompt_tokens_details?: unknown };

/** Tokens of one model and cache details as its upstream reports them. */
export type PricedUsage = ModelUsage & { readonly prompt_tokens_details?: unknown };

/** Prompt tokens that an upstream read from its cache or wrote to it. */
interface CachedCounts {
  readonly readTokens: number;
  /** All written tokens, including those that are cached for an hour. */
  readonly writtenTokens: number;
  readonly hourWrittenTokens: number;
}

/** Returns the reported cache reads and writes, bounded by the size of the prompt. */
export function countCached({ prompt_tokens, prompt_tokens_details: reported }: PricedCounts): CachedCounts {
  const details = toObject(reported);
  const readTokens = toBounded(prompt_tokens, details.cached_tokens);
  const writtenTokens = toBounded(prompt_tokens - readTokens, details.cache_write_tokens);
  return { readTokens, writtenTokens, hourWrittenTokens: toBounded(writtenTokens, details.cache_write_1h_tokens) };
}

/**
 * Returns the cost of a reply, in billionths of a USD. Cached tokens cost `cacheRead`, `cacheWrite`, and `cacheWrite1h` if the
 * upstream reports them, otherwise `prompt`. Without pricing, as for applications, the cost is 0, because inner calls are charged
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

/** Returns the cost of tokens in USD, or undefined if the price of a model is unknown or the counts are only declared. */
export function computeUsd(
  { deployments }: { readonly deployments: ReadonlyMap<string, Deployment> },
  usage: readonly PricedUsage[],
): number | undefined {
  let units = 0;
  for (const item of usage) {
    const deployment = deployments.get(item.model);
    if (deployment?.pricing === undefined || item.declared === true) return undefined;
    units += computeCost(deployment, item);
  }
  return usage.length === 0 ? undefined : units / unitsPerUsd;
}

function toBounded(max: number, value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(max, Math.round(value)) : 0;
}

const charsPerToken = 4;

/** Estimates the tokens of a text by its length, for cases in which no upstream reports them (docs/wire.md, Usage). */
export function estimateTokens(chars: number): number {
  return Math.ceil(chars / charsPerToken);
}

/** Returns the number of characters in the text, thoughts, and calls of a reply. The reply is untrusted. */
export function countReplyChars(reply: object): number {
  const { content, reasoning_content, reasoning } = reply as Record<string, unknown>;
  return countCallChars(reply) + getLength(content) + getLength(reasoning_content) + getLength(reasoning);
}

/** Returns the number of characters in the names and arguments of a message's or delta's calls. */
function countCallChars(message: object): number {
  const { function_call: call, tool_calls: calls } = message as Record<string, unknown>;
  let chars = countSingleCallChars(call);
  if (!Array.isArray(calls)) return chars;
  for (const item of calls)
    if (isJsonObject(item)) chars += countSingleCallChars(item.function) + countSingleCallChars(item.custom);
  return chars;
}

/** Counts the name and the arguments. A custom tool has its arguments in `input`. */
function countSingleCallChars(call: unknown): number {
  return isJsonObject(call) ? getLength(call.name) + getLength(call.arguments) + getLength(call.input) : 0;
}

/** Returns the number of characters of a text, and 0 for other values. */
export function getLength(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}

/** Estimates the tokens of a request from the text and the calls in its messages. Images and files do not count. */
export function estimatePromptTokens({ messages }: Pick<ChatRequest, 'messages'>): number {
  let chars = 0;
  for (const message of messages) chars += countChars(message);
  return estimateTokens(chars);
}

/** Estimates the tokens of a request including its tools. */
export function estimateRequestTokens({ messages, tools }: ChatRequest): number {
  return estimatePromptTokens({ messages }) + estimateTokens(tools === undefined ? 0 : JSON.stringify(tools).length);
}

/** Returns the maximum number of reply tokens from the request, or undefined if it sets none. */
export function findMaxTokens({
  max_completion_tokens: maxCompletionTokens,
  max_tokens: legacyMaxTokens,
  n = 1,
}: ChatRequest): number | undefined {
  const bound = typeof maxCompletionTokens === 'number' && maxCompletionTokens > 0 ? maxCompletionTokens : legacyMaxTokens;
  return bound === undefined ? undefined : Math.min(Math.ceil(bound) * n, Number.MAX_SAFE_INTEGER);
}

/** Returns the number of characters in a message and in its calls. */
export function countChars(message: Message): number {
  const { content } = message;
  let chars = countCallChars(message);
  if (typeof content === 'string') return chars + content.length;
  for (const part of Array.isArray(content) ? content : []) if (isJsonObject(part)) chars += getLength(part.text);
  return chars;
}

/** Estimates the tokens of an embeddings input. Token arrays are counted exactly. */
export function estimateInputTokens({ input }: EmbeddingsRequest): number {
  if (typeof input === 'string') return estimateTokens(input.length);
  let tokens = 0;
  for (const item of input)
    tokens += typeof item === 'string' ? estimateTokens(item.length) : typeof item === 'number' ? 1 : item.length;
  return tokens;
}

/** Details of a call that an upstream reports in addition to tokens. An undefined field was not reported. */
export interface UsageDetails {
  /** Prompt tokens that the upstream read from its cache. */
  readonly cacheReadTokens?: number;
  /** Prompt tokens that the upstream wrote to its cache. */
  readonly cacheWriteTokens?: number;
  /** Written tokens that are cached for an hour instead of 5 minutes. */
  readonly cacheWrite1hTokens?: number;
  /** Service tier of the call at the upstream. */
  readonly serviceTier?: string;
}
