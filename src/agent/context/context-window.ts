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
  emptyMemory,
  type FormatPlaceholder,
  listGroupStarts,
  MessageRenderer,
  recordToolNames,
  type Summary,
} from './message-renderer.ts';
import { summarize } from './summarize.ts';

/** How long a conversation may be, and what is done if it is longer. */
export interface ContextOptions {
  readonly strategy: ContextSettings['strategy'];
  /** Tokens of a request; undefined if nobody knows: then only what the model refuses is too long. */
  readonly maxTokens: number | undefined;
  /** What the model counts with; undefined if nobody knows. */
  readonly vocabulary: Vocabulary | undefined;
  /** What an earlier run of the conversation did. */
  readonly memory: ContextMemory | undefined;
  /** Asks the model for a summary. */
  readonly sendRequest: (request: ChatRequest) => AsyncIterable<Frame>;
  /** Called with each change. */
  readonly onChange?: (change: ContextChange) => void;
}

/** What was done so that a conversation fits. */
export interface ContextChange {
  readonly strategy: ContextSettings['strategy'];
  /** Whether the model had refused it. */
  readonly wasRejected: boolean;
  /** Counted, or estimated: before, after, and at most. */
  readonly tokens: { readonly before: number; readonly after: number; readonly max: number };
  readonly clearedResults: number;
  readonly summarizedMessages: number;
  /** Why there is no summary, if there should be one. */
  readonly summaryError?: string;
}

interface Dependencies {
  readonly formatPlaceholder: FormatPlaceholder;
  readonly addUsage: (usage: readonly ModelUsage[]) => void;
}

/** What a conversation is brought to, of what it may have: it is not touched again with each turn, and caches of prompts hold. */
const targetFraction = 1 / 2;
/** Of what was refused, what is tried again. */
const retryFraction = 3 / 5;
/** Of what a request may have, what one for a summary is made of. */
const summaryFraction = 4 / 5;
/** Of what is free, what the results of one turn may take; and the bytes of a token at least, of texts as tools give them. */
const resultsFraction = 3 / 5;
const minBytesPerToken = 2.5;
const minResultBytes = 500;

/** Keeps the requests of one run within what its model takes. As long as nothing is to be cleared, a request is the one before with more behind it. */
export class ContextWindow {
  readonly #options: ContextOptions;
  readonly #dependencies: Dependencies;
  readonly #estimator = createEstimator();
  readonly #renderer: MessageRenderer;
  #exactCounter: MessageCounter | undefined;
  #memory: Pick<ContextMemory, 'cleared' | 'summary'> = emptyMemory;
  #isMemoryRestored = false;
  /** Not asked again in this run, once it failed. */
  #canSummarize: boolean;

  constructor(options: ContextOptions, dependencies: Dependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#canSummarize = options.strategy === 'summarize';
    this.#renderer = new MessageRenderer(dependencies.formatPlaceholder);
  }

  /** Whether something of the conversation is not sent. */
  get isReduced(): boolean {
    return this.#memory.cleared > 0 || this.#memory.summary !== undefined;
  }

  /** The request as it is sent. */
  async fit(request: ChatRequest): Promise<ChatRequest> {
    const { maxTokens, strategy } = this.#options;
    this.#restoreMemory(request.messages);
    if (strategy !== 'off' && maxTokens !== undefined && (await this.#countTokens(request, maxTokens)) > maxTokens)
      await this.#reduce(request, maxTokens, false);
    return this.#render(request);
  }

  /** The request again, smaller, once the model refused it; undefined if nothing can be taken out of it. */
  async shrink(request: ChatRequest): Promise<ChatRequest | undefined> {
    if (this.#options.strategy === 'off') return undefined;
    const tokens = await this.#countTokens(request, 0);
    const maxTokens = Math.floor(Math.min(tokens, this.#options.maxTokens ?? tokens) * retryFraction);
    return (await this.#reduce(request, maxTokens, true)) ? this.#render(request) : undefined;
  }

  /** Bytes of each of so many results that the model can be shown with the request. */
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

  /** What the next run of the conversation goes on with; undefined if all is sent. */
  exportMemory(messages: readonly Message[]): ContextMemory | undefined {
    if (!this.isReduced) return undefined;
    const conversation = withoutInstructions(messages);
    return { ...this.#memory, digest: computeDigest(conversation, getReducedCount(this.#memory)) };
  }

  /** Takes what an earlier run did, unless its messages are others now. */
  #restoreMemory(messages: readonly Message[]): void {
    if (this.#isMemoryRestored) return;
    this.#isMemoryRestored = true;
    const { memory } = this.#options;
    if (memory === undefined) return;
    const conversation = withoutInstructions(messages);
    if (computeDigest(conversation, getReducedCount(memory)) !== memory.digest) return;
    const { cleared, summary } = memory;
    this.#memory = { cleared, ...(summary !== undefined && { summary }) };
  }

  #render(request: ChatRequest): ChatRequest {
    return this.isReduced ? { ...request, messages: this.#renderer.render(request.messages, this.#memory) } : request;
  }

  /** Counted only if the estimate, which errs high, is more than what matters. */
  async #countTokens(request: ChatRequest, threshold: number): Promise<number> {
    const rendered = this.#render(request);
    const estimate = countRequest(rendered, this.#estimator);
    const { vocabulary } = this.#options;
    if (vocabulary === undefined || estimate <= threshold) return estimate;
    this.#exactCounter ??= await createExactCounter(vocabulary, rendered.messages);
    return countRequest(rendered, this.#exactCounter);
  }

  /** True if something was taken out. */
  async #reduce(request: ChatRequest, maxTokens: number, wasRejected: boolean): Promise<boolean> {
    const counter = this.#exactCounter ?? this.#estimator;
    const before = countRequest(this.#render(request), counter);
    const { messages } = request;
    const toOversized = (): OversizedConversation => {
      const tokens = countRequest(this.#render(request), counter);
      return { messages, memory: this.#memory, tokens, target: maxTokens * targetFraction, counter, renderer: this.#renderer };
    };
    const previousMemory = this.#memory;
    const { cleared, results } = planClearing(toOversized());
    this.#memory = { ...previousMemory, cleared };
    const summaryError =
      this.#canSummarize && toOversized().tokens > maxTokens
        ? await this.#summarize(request, toOversized(), maxTokens)
        : undefined;
    this.#canSummarize &&= summaryError === undefined;
    const isSame = this.#memory.cleared === previousMemory.cleared && this.#memory.summary === previousMemory.summary;
    if (isSame && summaryError === undefined) return false;
    this.#options.onChange?.({
      strategy: this.#options.strategy,
      wasRejected,
      tokens: { before, after: toOversized().tokens, max: maxTokens },
      clearedResults: results,
      summarizedMessages: Math.max(0, (this.#memory.summary?.before ?? 0) - (previousMemory.summary?.before ?? 0)),
      ...(summaryError !== undefined && { summaryError }),
    });
    return !isSame;
  }

  /** Why there is none; undefined if there is one, or nothing for it. */
  async #summarize(request: ChatRequest, oversized: OversizedConversation, maxTokens: number): Promise<string | undefined> {
    const plan = planSummary(oversized);
    if (plan === undefined) return undefined;
    const { before, kept: keptIndex } = plan;
    const { summary, cleared } = this.#memory;
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
      this.#memory = { cleared, summary: newSummary };
      return undefined;
    } catch (error) {
      return toParleyError(error).message;
    }
  }
}

function getReducedCount({ cleared, summary }: Pick<ContextMemory, 'cleared' | 'summary'>): number {
  return Math.max(cleared, summary?.before ?? 0);
}

function countRequest(request: ChatRequest, counter: MessageCounter): number {
  return counter.countSettings(request) + countMessages(request.messages, counter);
}

function countMessages(messages: readonly Message[], counter: MessageCounter): number {
  return messages.reduce((sum, message) => sum + counter.count(message), 0);
}

/** A conversation whose model takes less. */
interface OversizedConversation {
  readonly messages: readonly Message[];
  /** What is cleared of it already. */
  readonly memory: Pick<ContextMemory, 'cleared' | 'summary'>;
  /** Tokens of it as it would be sent, with all that goes along. */
  readonly tokens: number;
  /** Tokens that it is brought to: far fewer than it may have, so that it is not touched again with the next turn. */
  readonly target: number;
  readonly counter: MessageCounter;
  readonly renderer: MessageRenderer;
}

/** Ahead of which place results are to be cleared, and how many they are: the oldest first; those that the model has not answered to yet stay. */
function planClearing({ messages, memory, tokens: before, target, counter, renderer }: OversizedConversation): {
  readonly cleared: number;
  readonly results: number;
} {
  const conversation = withoutInstructions(messages);
  const unansweredStart = findUnansweredStart(conversation);
  const tools = new Map<string, string>();
  let tokens = before;
  let { cleared } = memory;
  let results = 0;
  for (const [index, message] of conversation.entries()) {
    recordToolNames(message, tools);
    if (index < Math.max(memory.cleared, memory.summary?.before ?? 0)) continue;
    if (index >= unansweredStart || tokens <= target) break;
    const savedTokens = counter.count(message) - counter.count(renderer.clear(message, tools));
    if (savedTokens <= 0) continue;
    tokens -= savedTokens;
    cleared = index + 1;
    results += 1;
  }
  return { cleared, results };
}

/** What a summary is to stand for: the messages ahead of a place, but for one among them that stays. */
interface SummaryPlan {
  readonly before: number;
  readonly kept: number | undefined;
}

/** Tokens that a summary is taken to have. */
const summaryTokens = 1_000;

/** To be given messages of which nothing more can be cleared. Undefined if nothing is left to be summed up. */
function planSummary({
  messages,
  memory,
  tokens: before,
  target,
  counter,
  renderer,
}: OversizedConversation): SummaryPlan | undefined {
  const conversation = withoutInstructions(messages);
  const question = conversation.findLastIndex((message) => message.role === 'user' && !isMediaMessage(message));
  const start = memory.summary?.before ?? 0;
  const lastIndex = Math.min(findUnansweredStart(conversation), conversation.length - 1);
  const starts = new Set(listGroupStarts(conversation));
  const tools = new Map<string, string>();
  let tokens = before + (memory.summary === undefined ? Math.min(summaryTokens, target / 2) : 0);
  let end: number | undefined;
  let summarizedCount = 0;
  for (const [index, message] of conversation.entries()) {
    if (index > lastIndex) break;
    if (starts.has(index) && summarizedCount > 0) end = index;
    if (end === index && tokens <= target) break;
    recordToolNames(message, tools);
    if (index < start || index === question) continue;
    tokens -= counter.count(index < memory.cleared ? renderer.clear(message, tools) : message);
    summarizedCount += 1;
  }
  return end === undefined ? undefined : { before: end, kept: question < end ? question : undefined };
}

/** The place of the calls whose results stand last; the end if something else does. */
function findUnansweredStart(conversation: readonly Message[]): number {
  let index = conversation.length;
  while (index > 0 && (isResult(conversation[index - 1] as Message) || isMediaMessage(conversation[index - 1] as Message)))
    index -= 1;
  return index === conversation.length ? index : Math.max(0, index - 1);
}
