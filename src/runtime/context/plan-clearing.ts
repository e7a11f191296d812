import { isResult, type Message, withoutInstructions } from '#contract/message.ts';
import { isMediaMessage } from '../shown-media.ts';
import { type ClearedMessages, type ContextMemory, groupStarts, noteCalls } from './cleared-messages.ts';
import type { MessageCounter } from './count-messages.ts';

/** A conversation whose model takes less. */
export interface TooLong {
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
export function planClearing({ messages, memory, tokens: before, target, counter, drawing }: TooLong): {
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
export interface SummaryPlan {
  readonly before: number;
  readonly kept: number | undefined;
}

/** Tokens that a summary is taken to have. */
const summaryTokens = 1_000;

/** To be given messages of which nothing more can be cleared. Undefined if nothing is left to be summed up. */
export function planSummary({ messages, memory, tokens: before, target, counter, drawing }: TooLong): SummaryPlan | undefined {
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
