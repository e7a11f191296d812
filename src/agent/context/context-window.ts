import type { Vocabulary } from '#base/text/tokens.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { isInstruction, isResult, type Message, withoutInstructions } from '#contract/chat/message.ts';
import type { ContextSettings } from '#contract/configuration/service.ts';
import { toParleyError } from '#contract/errors/errors.ts';
import { isMediaMessage } from '../shown-media.ts';
import {
  ClearedMessages,
  type ContextMemory,
  digestOf,
  groupStarts,
  noteCalls,
  nothingCleared,
  type Summary,
  type ToClearedLine,
} from './cleared-messages.ts';
import { createEstimator, createExactCounter, type MessageCounter } from './count-messages.ts';
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
  readonly ask: (request: ChatRequest) => AsyncIterable<Frame>;
  /** Called with each change. */
  readonly onChange?: (change: ContextChange) => void;
}

/** What was done so that a conversation fits. */
export interface ContextChange {
  readonly strategy: ContextSettings['strategy'];
  /** Whether the model had refused it. */
  readonly wasRefused: boolean;
  /** Counted, or estimated: before, after, and at most. */
  readonly tokens: { readonly before: number; readonly after: number; readonly most: number };
  readonly clearedResults: number;
  readonly summarizedMessages: number;
  /** Why there is no summary, if there should be one. */
  readonly fault?: string;
}

interface Wiring {
  readonly toLine: ToClearedLine;
  readonly addUsage: (usage: readonly ModelUsage[]) => void;
}

/** What a conversation is brought to, of what it may have: it is not touched again with each turn, and caches of prompts hold. */
const targetShare = 1 / 2;
/** Of what was refused, what is tried again. */
const refusedShare = 3 / 5;
/** Of what a request may have, what one for a summary is made of. */
const summaryShare = 4 / 5;
/** Of what is free, what the results of one turn may take; and the bytes of a token at least, of texts as tools give them. */
const resultsShare = 3 / 5;
const bytesPerToken = 2.5;
const leastResultBytes = 500;

/** Keeps the requests of one run within what its model takes. As long as nothing is to be cleared, a request is the one before with more behind it. */
export class ContextWindow {
  readonly #options: ContextOptions;
  readonly #wiring: Wiring;
  readonly #estimator = createEstimator();
  readonly #drawing: ClearedMessages;
  #exact: MessageCounter | undefined;
  #memory: Pick<ContextMemory, 'cleared' | 'summary'> = nothingCleared;
  #isChecked = false;
  /** Not asked again in this run, once it failed. */
  #canSummarize: boolean;

  constructor(options: ContextOptions, wiring: Wiring) {
    this.#options = options;
    this.#wiring = wiring;
    this.#canSummarize = options.strategy === 'summarize';
    this.#drawing = new ClearedMessages(wiring.toLine);
  }

  /** Whether something of the conversation is not sent. */
  get hasCleared(): boolean {
    return this.#memory.cleared > 0 || this.#memory.summary !== undefined;
  }

  /** The request as it is sent. */
  async fit(request: ChatRequest): Promise<ChatRequest> {
    const { maxTokens, strategy } = this.#options;
    this.#recall(request.messages);
    if (strategy !== 'off' && maxTokens !== undefined && (await this.#tokensOf(request, maxTokens)) > maxTokens)
      await this.#change(request, maxTokens, false);
    return this.#draw(request);
  }

  /** The request again, smaller, once the model refused it; undefined if nothing can be taken out of it. */
  async shrink(request: ChatRequest): Promise<ChatRequest | undefined> {
    if (this.#options.strategy === 'off') return undefined;
    const tokens = await this.#tokensOf(request, 0);
    const most = Math.floor(Math.min(tokens, this.#options.maxTokens ?? tokens) * refusedShare);
    return (await this.#change(request, most, true)) ? this.#draw(request) : undefined;
  }

  /** Bytes of each of so many results that the model can be shown with the request. */
  resultBytes(request: ChatRequest, results: number): number {
    const { maxTokens, strategy } = this.#options;
    if (strategy === 'off' || maxTokens === undefined) return Number.POSITIVE_INFINITY;
    const said = withoutInstructions(request.messages);
    const question = said.findLast(({ role }) => role === 'user');
    const fixed = [...request.messages.filter(isInstruction), ...(question === undefined ? [] : [question])];
    const taken = this.#estimator.ofSettings(request) + sumOf(fixed, this.#estimator);
    const free = Math.max(0, maxTokens - taken) * resultsShare * bytesPerToken;
    return Math.max(leastResultBytes, Math.floor(free / Math.max(1, results)));
  }

  /** What the next run of the conversation goes on with; undefined if all is sent. */
  toRemember(messages: readonly Message[]): ContextMemory | undefined {
    if (!this.hasCleared) return undefined;
    const said = withoutInstructions(messages);
    return { ...this.#memory, digest: digestOf(said, reachOf(this.#memory)) };
  }

  /** Takes what an earlier run did, unless its messages are others now. */
  #recall(messages: readonly Message[]): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    const { memory } = this.#options;
    if (memory === undefined) return;
    const said = withoutInstructions(messages);
    if (digestOf(said, reachOf(memory)) !== memory.digest) return;
    const { cleared, summary } = memory;
    this.#memory = { cleared, ...(summary !== undefined && { summary }) };
  }

  #draw(request: ChatRequest): ChatRequest {
    return this.hasCleared ? { ...request, messages: this.#drawing.draw(request.messages, this.#memory) } : request;
  }

  /** Counted only if the estimate, which errs high, is more than what matters. */
  async #tokensOf(request: ChatRequest, most: number): Promise<number> {
    const drawn = this.#draw(request);
    const estimated = totalOf(drawn, this.#estimator);
    const { vocabulary } = this.#options;
    if (vocabulary === undefined || estimated <= most) return estimated;
    this.#exact ??= await createExactCounter(vocabulary, drawn.messages);
    return totalOf(drawn, this.#exact);
  }

  /** True if something was taken out. */
  async #change(request: ChatRequest, most: number, wasRefused: boolean): Promise<boolean> {
    const counter = this.#exact ?? this.#estimator;
    const before = totalOf(this.#draw(request), counter);
    const { messages } = request;
    const tooLong = (): TooLong => {
      const tokens = totalOf(this.#draw(request), counter);
      return { messages, memory: this.#memory, tokens, target: most * targetShare, counter, drawing: this.#drawing };
    };
    const earlier = this.#memory;
    const { cleared, results } = planClearing(tooLong());
    this.#memory = { ...earlier, cleared };
    const fault = this.#canSummarize && tooLong().tokens > most ? await this.#summarize(request, tooLong(), most) : undefined;
    this.#canSummarize &&= fault === undefined;
    const isSame = this.#memory.cleared === earlier.cleared && this.#memory.summary === earlier.summary;
    if (isSame && fault === undefined) return false;
    this.#options.onChange?.({
      strategy: this.#options.strategy,
      wasRefused,
      tokens: { before, after: tooLong().tokens, most },
      clearedResults: results,
      summarizedMessages: Math.max(0, (this.#memory.summary?.before ?? 0) - (earlier.summary?.before ?? 0)),
      ...(fault !== undefined && { fault }),
    });
    return !isSame;
  }

  /** Why there is none; undefined if there is one, or nothing for it. */
  async #summarize(request: ChatRequest, tooLong: TooLong, most: number): Promise<string | undefined> {
    const plan = planSummary(tooLong);
    if (plan === undefined) return undefined;
    const { before, kept } = plan;
    const { summary, cleared } = this.#memory;
    const said = this.#drawing.draw(withoutInstructions(request.messages), { cleared });
    const mostTokens = Math.floor(most * summaryShare);
    const { ask } = this.#options;
    try {
      const older = said.slice(summary?.before ?? 0, before);
      const text = await summarize(older, summary?.text, { ask, request, mostTokens, addUsage: this.#wiring.addUsage });
      const made: Summary = { before, text, ...(kept !== undefined && { kept }) };
      this.#memory = { cleared, summary: made };
      return undefined;
    } catch (thrown) {
      return toParleyError(thrown).message;
    }
  }
}

function reachOf({ cleared, summary }: Pick<ContextMemory, 'cleared' | 'summary'>): number {
  return Math.max(cleared, summary?.before ?? 0);
}

function totalOf(request: ChatRequest, counter: MessageCounter): number {
  return counter.ofSettings(request) + sumOf(request.messages, counter);
}

function sumOf(messages: readonly Message[], counter: MessageCounter): number {
  return messages.reduce((sum, message) => sum + counter.of(message), 0);
}

/** A conversation whose model takes less. */
interface TooLong {
  readonly messages: readonly Message[];
  /** What is cleared of it already. */
  readonly memory: Pick<ContextMemory, 'cleared' | 'summary'>;
  /** Tokens of it as it would be sent, with all that goes along. */
  readonly tokens: number;
  /** Tokens that it is brought to: far fewer than it may have, so that it is not touched again with the next turn. */
  readonly target: number;
  readonly counter: MessageCounter;
  readonly drawing: ClearedMessages;
}

/** Ahead of which place results are to be cleared, and how many they are: the oldest first; those that the model has not answered to yet stay. */
function planClearing({ messages, memory, tokens: before, target, counter, drawing }: TooLong): {
  readonly cleared: number;
  readonly results: number;
} {
  const said = withoutInstructions(messages);
  const end = startOfUnanswered(said);
  const tools = new Map<string, string>();
  let tokens = before;
  let { cleared } = memory;
  let results = 0;
  for (const [place, message] of said.entries()) {
    noteCalls(message, tools);
    if (place < Math.max(memory.cleared, memory.summary?.before ?? 0)) continue;
    if (place >= end || tokens <= target) break;
    const saved = counter.of(message) - counter.of(drawing.clear(message, tools));
    if (saved <= 0) continue;
    tokens -= saved;
    cleared = place + 1;
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
function planSummary({ messages, memory, tokens: before, target, counter, drawing }: TooLong): SummaryPlan | undefined {
  const said = withoutInstructions(messages);
  const question = said.findLastIndex((message) => message.role === 'user' && !isMediaMessage(message));
  const from = memory.summary?.before ?? 0;
  const last = Math.min(startOfUnanswered(said), said.length - 1);
  const starts = new Set(groupStarts(said));
  const tools = new Map<string, string>();
  let tokens = before + (memory.summary === undefined ? Math.min(summaryTokens, target / 2) : 0);
  let cut: number | undefined;
  let summedUp = 0;
  for (const [place, message] of said.entries()) {
    if (place > last) break;
    if (starts.has(place) && summedUp > 0) cut = place;
    if (cut === place && tokens <= target) break;
    noteCalls(message, tools);
    if (place < from || place === question) continue;
    tokens -= counter.of(place < memory.cleared ? drawing.clear(message, tools) : message);
    summedUp += 1;
  }
  return cut === undefined ? undefined : { before: cut, kept: question < cut ? question : undefined };
}

/** The place of the calls whose results stand last; the end if something else does. */
function startOfUnanswered(said: readonly Message[]): number {
  let place = said.length;
  while (place > 0 && (isResult(said[place - 1] as Message) || isMediaMessage(said[place - 1] as Message))) place -= 1;
  return place === said.length ? place : Math.max(0, place - 1);
}
