import type { ModelUsage, Usage } from '#contract/chat/chunk.ts';
import type { Reply } from './conversation.ts';
import type { Continuation } from './reply-runner.ts';

/** So much of the end of an answer is repeated by what goes on from it. */
const tailChars = 80;
/** What is shorter may be the same by chance. */
const minOverlap = 8;
const spaced = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]`;
// Pattern bound: the user's own tab: the end of an answer.
const endsWithWord = new RegExp(`${spaced}[.,;:!?]?$`, 'u');
// Pattern bound: the user's own tab: the start of an answer.
const startsWithWord = new RegExp(`^${spaced}`, 'u');

/**
 * How an answer that was cut short is gone on with. A request that ends in the assistant's own words would be the plain way, but some
 * upstreams refuse it and most of the others begin a new answer; a message of the user is understood by all of them, applications
 * too. It is no turn of the conversation. Since models leave out the space, or the rest of a word, that comes next, they are asked to
 * repeat the last words, which are then taken away where the two are joined.
 */
export function toContinuation(truncated: Reply): Continuation {
  const content = `Your last answer was cut off before its end. Go on with it from there: begin with its last words, which stand below, exactly as they are, and continue behind them. Do not begin anew, repeat nothing else, and say nothing about this message.\n\n${getTail(truncated.text)}`;
  return { truncated, prompt: { role: 'user', content }, join: joinText, withTotals: (reply) => withTotals(truncated, reply) };
}

/** Two parts of one answer as one text; the second may repeat the end of the first. While it may still be doing so, nothing of it is shown. */
export function joinText(text: string, addition: string, isComplete: boolean): string {
  const tail = getTail(text);
  const next = addition.replace(/^\s*(…|\.{3})?/, '');
  if (next === '' || (!isComplete && tail.includes(next.trim()))) return text;
  const overlap = computeOverlap(text.trimEnd(), next.trimStart());
  if (overlap > 0) return text.trimEnd() + next.trimStart().slice(overlap);
  const isGap = endsWithWord.test(text) && startsWithWord.test(addition);
  return `${text}${isGap ? ' ' : ''}${addition}`;
}

/** The last words of a text. */
function getTail(text: string): string {
  const end = text.trimEnd().slice(-tailChars);
  return end.length < tailChars ? end.trimStart() : end.replace(/^\S*\s+/, '');
}

function computeOverlap(text: string, addition: string): number {
  for (let chars = Math.min(text.length, addition.length, 2 * tailChars); chars > 0; chars -= 1) {
    if (chars < Math.min(minOverlap, text.length)) return 0;
    if (text.endsWith(addition.slice(0, chars))) return chars;
  }
  return 0;
}

/** With the tokens of both parts, and the thoughts. */
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
  return {
    ...second,
    prompt_tokens: first.prompt_tokens + second.prompt_tokens,
    completion_tokens: first.completion_tokens + second.completion_tokens,
    total_tokens: first.total_tokens + second.total_tokens,
  };
}

/** Of each model all that the replies took. */
function sumPerModel(...replies: readonly Reply[]): ModelUsage[] {
  const byModel = new Map<string, ModelUsage>();
  for (const item of replies.flatMap(({ statistics }) => statistics?.usage_per_model ?? []))
    byModel.set(item.model, addUsage(byModel.get(item.model), item) ?? item);
  return [...byModel.values()];
}
