import type { Vocabulary } from '#base/text/tokens.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { isInstruction, isResult, type Message, withoutInstructions } from '#contract/chat/message.ts';
import type { ContextSettings } from '#contract/configuration/service.ts';
import { toParleyError } from '#contract/errors/errors.ts';
import { isMediaMessage } from '../tool-media.ts';
import { createEstimator, createExactCounter, type MessageCounter } from './count-messages.ts';
import {
  type ContextMemory,
  computeDigest,
  type FormatPlaceholder,
  listGroupStarts,
  MessageRenderer,
  type Reduction,
  recordToolNames,
  type Summary,
} from './message-renderer.ts';
import { summarize } from './summarize.ts';

/** Options for fitting a conversation into the context window. */
export interface ContextOptions {
  readonly strategy: ContextSettings['strategy'];
  /** Maximum number of tokens per request. If undefined, only a rejection by the model shows that a request is too long. */
  readonly maxTokens: number | undefined;
  /** Vocabulary of the model's tokenizer, or undefined if unknown. */
  readonly vocabulary: Vocabulary | undefined;
  /** Memory from the previous run of the conversation. */
  readonly memory: ContextMemory | undefined;
  /** Sends a summarization request to the model. */
  readonly sendRequest: (request: ChatRequest) => AsyncIterable<Frame>;
  /** Called after each reduction of the conversation. */
  readonly onChange?: (change: ContextChange) => void;
}

/** A reduction that makes a conversation fit. */
export interface ContextChange {
  readonly strategy: ContextSettings['strategy'];
  /** Whether the model rejected the original request. */
  readonly wasRejected: boolean;
  /** Exact or estimated token counts before and after the reduction, and the maximum. */
  readonly tokens: { readonly before: number; readonly after: number; readonly max: number };
  readonly clearedResults: number;
  readonly summarizedMessages: number;
  /** Error message if the summary failed. */
  readonly summaryError?: string;
}

interface Dependencies {
  readonly formatPlaceholder: FormatPlaceholder;
  readonly addUsage: (usage: readonly ModelUsage[]) => void;
}

/**
 * Fraction of the maximum to reduce a conversation to. The margin avoids a reduction in every turn, so that prompt caches stay
 * valid.
 */
const targetFraction = 1 / 2;
/** Fraction of the rejected token count to retry with. */
const retryFraction = 3 / 5;
/** Fraction of the maximum to use for the input of a summarization request. */
const summaryFraction = 4 / 5;
/** Fraction of the free tokens that the tool results of one turn may use. */
const resultsFraction = 3 / 5;
/** Minimum number of bytes per token in typical tool results. */
const minBytesPerToken = 2.5;
const minResultBytes = 500;

/**
 * Keeps the requests of one run within the context window of the model. Until a reduction is necessary, each request only
 * appends to the previous one.
 */
export class ContextWindow {
  readonly #options: ContextOptions;
  readonly #dependencies: Dependencies;
  readonly #estimator = createEstimator();
  readonly #renderer: MessageRenderer;
  #exactCounter: MessageCounter | undefined;
  #reduction: Reduction = { cleared: 0 };
  #isMemoryRestored = false;
  /** Whether summaries are enabled. A failed summary disables them for the rest of the run. */
  #canSummarize: boolean;

  constructor(options: ContextOptions, dependencies: Dependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#canSummarize = options.strategy === 'summarize';
    this.#renderer = new MessageRenderer(dependencies.formatPlaceholder);
  }

  /** Whether parts of the conversation are cleared or summarized. */
  get isReduced(): boolean {
    return this.#reduction.cleared > 0 || this.#reduction.summary !== undefined;
  }

  /** Returns the request, reduced if it exceeds the maximum. */
  async fit(request: ChatRequest): Promise<ChatRequest> {
    const { maxTokens, strategy } = this.#options;
    this.#restoreMemory(request.messages);
    if (strategy !== 'off' && maxTokens !== undefined && (await this.#countTokens(request, maxTokens)) > maxTokens)
      await this.#reduce(request, maxTokens, false);
    return this.#render(request);
  }

  /** Returns a smaller request after the model rejected the original, or undefined if no further reduction is possible. */
  async shrink(request: ChatRequest): Promise<ChatRequest | undefined> {
    if (this.#options.strategy === 'off') return undefined;
    const tokens = await this.#countTokens(request, 0);
    const maxTokens = Math.floor(Math.min(tokens, this.#options.maxTokens ?? tokens) * retryFraction);
    return (await this.#reduce(request, maxTokens, true)) ? this.#render(request) : undefined;
  }

  /**
   * Returns the maximum size in bytes of each of `resultCount` tool results of a turn. Only the settings, the instructions, and
   * the last question count as used, because the rest of the request can be reduced.
   */
  getMaxResultBytes(request: ChatRequest, resultCount: number): number {
    const { maxTokens, strategy } = this.#options;
    if (strategy === 'off' || maxTokens === undefined) return Number.POSITIVE_INFINITY;
    const messages = withoutInstructions(request.messages);
    const question = messages.findLast(({ role }) => role === 'user');
    const requiredMessages = [...request.messages.filter(isInstruction), ...(question === undefined ? [] : [question])];
    const requiredTokens = this.#estimator.countSettings(request) + countMessages(requiredMessages, this.#estimator);
    const freeBytes = Math.max(0, maxTokens - requiredTokens) * resultsFraction * minBytesPerToken;
    return Math.max(minResultBytes, Math.floor(freeBytes / Math.max(1, resultCount)));
  }

  /** Returns the memory for the next run of the conversation, or undefined if the run sends the full conversation. */
  exportMemory(messages: readonly Message[]): ContextMemory | undefined {
    if (!this.isReduced) return undefined;
    const conversation = withoutInstructions(messages);
    return { ...this.#reduction, digest: computeDigest(conversation, getReducedCount(this.#reduction)) };
  }

  /** Restores the memory of the previous run, unless its messages have changed. */
  #restoreMemory(messages: readonly Message[]): void {
    if (this.#isMemoryRestored) return;
    this.#isMemoryRestored = true;
    const { memory } = this.#options;
    if (memory === undefined) return;
    const conversation = withoutInstructions(messages);
    if (computeDigest(conversation, getReducedCount(memory)) !== memory.digest) return;
    const { digest: _digest, ...reduction } = memory;
    this.#reduction = reduction;
  }

  #render(request: ChatRequest): ChatRequest {
    return this.isReduced ? { ...request, messages: this.#renderer.render(request.messages, this.#reduction) } : request;
  }

  /**
   * Counts exactly only if the estimate exceeds the threshold. The estimate tends to be too high, so an estimate
   * below the threshold is safe.
   */
  async #countTokens(request: ChatRequest, threshold: number): Promise<number> {
    const rendered = this.#render(request);
    const estimate = countRequest(rendered, this.#estimator);
    const { vocabulary } = this.#options;
    if (vocabulary === undefined || estimate <= threshold) return estimate;
    this.#exactCounter ??= await createExactCounter(vocabulary, rendered.messages);
    return countRequest(rendered, this.#exactCounter);
  }

  /** Clears tool results, then summarizes messages, until the request fits. Returns whether the request changed. */
  async #reduce(request: ChatRequest, maxTokens: number, wasRejected: boolean): Promise<boolean> {
    const counter = this.#exactCounter ?? this.#estimator;
    const measureConversation = (): OversizedConversation => ({
      messages: request.messages,
      reduction: this.#reduction,
      tokens: countRequest(this.#render(request), counter),
      targetTokens: maxTokens * targetFraction,
      counter,
      renderer: this.#renderer,
    });
    const previous = this.#reduction;
    const original = measureConversation();
    const { cleared, clearedResults } = planClearing(original);
    this.#reduction = { ...previous, cleared };
    const clearedConversation = measureConversation();
    const summaryError =
      this.#canSummarize && clearedConversation.tokens > maxTokens
        ? await this.#summarize(request, clearedConversation, maxTokens)
        : undefined;
    this.#canSummarize &&= summaryError === undefined;
    const isSame = this.#reduction.cleared === previous.cleared && this.#reduction.summary === previous.summary;
    if (isSame && summaryError === undefined) return false;
    this.#options.onChange?.({
      strategy: this.#options.strategy,
      wasRejected,
      tokens: { before: original.tokens, after: measureConversation().tokens, max: maxTokens },
      clearedResults,
      summarizedMessages: Math.max(0, (this.#reduction.summary?.before ?? 0) - (previous.summary?.before ?? 0)),
      ...(summaryError !== undefined && { summaryError }),
    });
    return !isSame;
  }

  /** Summarizes the oldest messages. Returns an error message if that fails. */
  async #summarize(request: ChatRequest, oversized: OversizedConversation, maxTokens: number): Promise<string | undefined> {
    const plan = planSummary(oversized);
    if (plan === undefined) return undefined;
    const { before, kept: keptIndex } = plan;
    const { summary, cleared } = this.#reduction;
    const conversation = this.#renderer.render(withoutInstructions(request.messages), { cleared });
    const maxInputTokens = Math.floor(maxTokens * summaryFraction);
    const { sendRequest } = this.#options;
    try {
      const olderMessages = conversation.slice(summary?.before ?? 0, before);
      const text = await summarize(olderMessages, summary?.text, {
        sendRequest,
        request,
        maxTokens: maxInputTokens,
        addUsage: this.#dependencies.addUsage,
      });
      const newSummary: Summary = { before, text, ...(keptIndex !== undefined && { kept: keptIndex }) };
      this.#reduction = { cleared, summary: newSummary };
      return undefined;
    } catch (error) {
      return toParleyError(error).message;
    }
  }
}

function getReducedCount({ cleared, summary }: Reduction): number {
  return Math.max(cleared, summary?.before ?? 0);
}

function countRequest(request: ChatRequest, counter: MessageCounter): number {
  return counter.countSettings(request) + countMessages(request.messages, counter);
}

function countMessages(messages: readonly Message[], counter: MessageCounter): number {
  return messages.reduce((sum, message) => sum + counter.count(message), 0);
}

/** A conversation that exceeds the maximum of its model. */
interface OversizedConversation {
  readonly messages: readonly Message[];
  /** The parts that are already cleared or summarized. */
  readonly reduction: Reduction;
  /** Number of tokens of the complete request, including tools and settings. */
  readonly tokens: number;
  /** Number of tokens to reduce the conversation to. It is well below the maximum, so that the next turn needs no reduction. */
  readonly targetTokens: number;
  readonly counter: MessageCounter;
  readonly renderer: MessageRenderer;
}

/**
 * Plans which tool results to clear, oldest first. All results before the index `cleared` are then cleared. `clearedResults`
 * counts those that were not cleared before. Results that the model has not responded to yet are not cleared.
 */
function planClearing({ messages, reduction, tokens: before, targetTokens, counter, renderer }: OversizedConversation): {
  readonly cleared: number;
  readonly clearedResults: number;
} {
  const conversation = withoutInstructions(messages);
  const unansweredStart = findUnansweredStart(conversation);
  const tools = new Map<string, string>();
  let tokens = before;
  let { cleared } = reduction;
  let clearedResults = 0;
  for (const [index, message] of conversation.entries()) {
    recordToolNames(message, tools);
    if (index < getReducedCount(reduction)) continue;
    if (index >= unansweredStart || tokens <= targetTokens) break;
    const savedTokens = counter.count(message) - counter.count(renderer.clear(message, tools));
    if (savedTokens <= 0) continue;
    tokens -= savedTokens;
    cleared = index + 1;
    clearedResults += 1;
  }
  return { cleared, clearedResults };
}

/** The messages that a summary replaces: all before the index `before`, except the message at the index `kept`. */
interface SummaryPlan {
  readonly before: number;
  readonly kept: number | undefined;
}

/** Estimated number of tokens of a summary. */
const summaryTokens = 1_000;

/** Plans a summary. Call it after `planClearing`. Returns undefined if no message is left to summarize. */
function planSummary(oversized: OversizedConversation): SummaryPlan | undefined {
  const { messages, reduction, targetTokens, counter, renderer } = oversized;
  const conversation = withoutInstructions(messages);
  const question = conversation.findLastIndex((message) => message.role === 'user' && !isMediaMessage(message));
  const start = reduction.summary?.before ?? 0;
  const lastIndex = Math.min(findUnansweredStart(conversation), conversation.length - 1);
  const starts = new Set(listGroupStarts(conversation));
  const tools = new Map<string, string>();
  let tokens = oversized.tokens + (reduction.summary === undefined ? Math.min(summaryTokens, targetTokens / 2) : 0);
  let end: number | undefined;
  let summarizedCount = 0;
  for (const [index, message] of conversation.entries()) {
    if (index > lastIndex) break;
    if (starts.has(index) && summarizedCount > 0) end = index;
    if (end === index && tokens <= targetTokens) break;
    recordToolNames(message, tools);
    if (index < start || index === question) continue;
    tokens -= counter.count(index < reduction.cleared ? renderer.clear(message, tools) : message);
    summarizedCount += 1;
  }
  return end === undefined ? undefined : { before: end, kept: question < end ? question : undefined };
}

/**
 * Returns the index of the message whose tool calls the last messages answer. Returns the length if the last message is not a
 * result.
 */
function findUnansweredStart(conversation: readonly Message[]): number {
  let index = conversation.length;
  while (index > 0 && (isResult(conversation[index - 1] as Message) || isMediaMessage(conversation[index - 1] as Message)))
    index -= 1;
  return index === conversation.length ? index : Math.max(0, index - 1);
}
