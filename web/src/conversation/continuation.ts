import type { ModelUsage, Usage } from '#contract/chat/chunk.ts';
import type { Message } from '#contract/chat/message.ts';
import type { Reply } from './conversation.ts';

/** Joins the earlier and the new text. `isComplete` is true after the last chunk. */
export type JoinTexts = (text: string, addition: string, isComplete: boolean) => string;

/** The request that continues a truncated answer, and the functions that join both parts. */
export interface Continuation {
  readonly truncated: Reply;
  /** Prompt for the rest of the answer. */
  readonly prompt: Message;
  readonly join: JoinTexts;
  /** Adds the usage of both parts. */
  readonly withTotals: (reply: Reply) => Reply;
}

/** Number of characters at the end of an answer that its continuation should repeat. */
const tailChars = 80;
/** A shorter overlap may be a coincidence. */
const minOverlapChars = 8;
/** Characters of scripts that separate words with spaces. */
const spacedScripts = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]`;
// Pattern bound: linear. At most two characters match.
const endsWithWord = new RegExp(`${spacedScripts}[.,;:!?]?$`, 'u');
// Pattern bound: linear. It is anchored, and one character matches.
const startsWithWord = new RegExp(`^${spacedScripts}`, 'u');

/**
 * Builds the request that continues a truncated answer. The direct way would be a request that ends with the assistant message,
 * but some upstreams reject it, and most of the rest start a new answer. A user message works with all upstreams and with
 * applications. It is not a turn of the chat. Models omit the next space or the rest of a word. The prompt therefore requests a
 * repetition of the last words, and joining the parts removes it.
 */
export function toContinuation(truncated: Reply): Continuation {
  const content = `Your last answer was cut off before its end. Continue it from there. Start with an exact copy of its last words below, and continue after them. Do not start again, do not repeat other parts, and do not mention this message.\n\n${getTail(truncated.text)}`;
  return { truncated, prompt: { role: 'user', content }, join: joinText, withTotals: (reply) => withTotals(truncated, reply) };
}

/**
 * Joins two parts of one answer, where the second may repeat the end of the first. The second part is hidden while a repetition
 * is still possible.
 */
export function joinText(text: string, addition: string, isComplete: boolean): string {
  const tail = getTail(text);
  const next = addition.replace(/^\s*(…|\.{3})?/, '');
  if (next === '' || (!isComplete && tail.includes(next.trim()))) return text;
  const overlap = computeOverlap(text.trimEnd(), next.trimStart());
  if (overlap > 0) return text.trimEnd() + next.trimStart().slice(overlap);
  const needsSpace = endsWithWord.test(text) && startsWithWord.test(addition);
  return `${text}${needsSpace ? ' ' : ''}${addition}`;
}

/** Returns the last words of a text. */
function getTail(text: string): string {
  const end = text.trimEnd().slice(-tailChars);
  return end.length < tailChars ? end.trimStart() : end.replace(/^\S*\s+/, '');
}

function computeOverlap(text: string, addition: string): number {
  for (let chars = Math.min(text.length, addition.length, 2 * tailChars); chars > 0; chars -= 1) {
    if (chars < Math.min(minOverlapChars, text.length)) return 0;
    if (text.endsWith(addition.slice(0, chars))) return chars;
  }
  return 0;
}

/** Adds up the tokens and thoughts of both parts. */
function withTotals(truncated: Reply, reply: Reply): Reply {
  const thoughts = [truncated.thoughts, reply.thoughts].filter((text) => text !== undefined).join('\n\n');
  const usage = addUsage(truncated.usage, reply.usage);
  const perModel = sumPerModel(truncated, reply);
  return {
    ...reply,
    ...(thoughts !== '' && { thoughts }),
    ...(usage !== undefined && { usage }),
    ...(perModel.length > 0 && { statistics: { ...reply.statistics, usage_per_model: perModel } }),
  };
}

function addUsage<Counts extends Pick<Usage, 'prompt_tokens' | 'completion_tokens' | 'total_tokens'>>(
  first: Counts | undefined,
  second: Counts | undefined,
): Counts | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  const cost = getCost(first) + getCost(second);
  return {
    ...second,
    prompt_tokens: first.prompt_tokens + second.prompt_tokens,
    completion_tokens: first.completion_tokens + second.completion_tokens,
    total_tokens: first.total_tokens + second.total_tokens,
    // Without the cost of one part, the cost of the other one would look like the total.
    ...('cost' in second && { cost: Number.isNaN(cost) ? undefined : cost }),
  };
}

/** Returns NaN if the cost is unknown. */
function getCost(usage: object): number {
  return 'cost' in usage && typeof usage.cost === 'number' ? usage.cost : Number.NaN;
}

/** Adds up the usage of the replies per model. */
function sumPerModel(...replies: readonly Reply[]): ModelUsage[] {
  const byModel = new Map<string, ModelUsage>();
  for (const item of replies.flatMap(({ statistics }) => statistics?.usage_per_model ?? []))
    byModel.set(item.model, addUsage(byModel.get(item.model), item) ?? item);
  return [...byModel.values()];
}
