import type { ModelUsage, Usage } from '#contract/chat/chunk.ts';
import type { GoingOn } from './asking.ts';
import type { Reply } from './conversation.ts';

/** So much of the end of an answer is repeated by what goes on from it. */
const tailChars = 80;
/** What is shorter may be the same by chance. */
const leastOverlap = 8;
const spaced = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d]`;
// Pattern bound: the user's own tab: the end of an answer.
const endsWord = new RegExp(`${spaced}[.,;:!?]?$`, 'u');
// Pattern bound: the user's own tab: the start of an answer.
const beginsWord = new RegExp(`^${spaced}`, 'u');

/**
 * How an answer that was cut short is gone on with. A request that ends in the assistant's own words would be the plain way, but some
 * upstreams refuse it and most of the others begin a new answer; a message of the user is understood by all of them, applications
 * too. It is no turn of the conversation. Since models leave out the space, or the rest of a word, that comes next, they are asked to
 * repeat the last words, which are then taken away where the two are joined.
 */
export function toGoingOn(cut: Reply): GoingOn {
  const content = `Your last answer was cut off before its end. Go on with it from there: begin with its last words, which stand below, exactly as they are, and continue behind them. Do not begin anew, repeat nothing else, and say nothing about this message.\n\n${tailOf(cut.text)}`;
  return { cut, ask: { role: 'user', content }, join: joinText, total: (reply) => withTotals(cut, reply) };
}

/** Two parts of one answer as one text; the second may repeat the end of the first. While it may still be doing so, nothing of it is shown. */
export function joinText(said: string, more: string, isOver: boolean): string {
  const tail = tailOf(said);
  const next = more.replace(/^\s*(…|\.{3})?/, '');
  if (next === '' || (!isOver && tail.includes(next.trim()))) return said;
  const overlap = overlapOf(said.trimEnd(), next.trimStart());
  if (overlap > 0) return said.trimEnd() + next.trimStart().slice(overlap);
  const isGap = endsWord.test(said) && beginsWord.test(more);
  return `${said}${isGap ? ' ' : ''}${more}`;
}

/** The last words of a text. */
function tailOf(text: string): string {
  const end = text.trimEnd().slice(-tailChars);
  return end.length < tailChars ? end.trimStart() : end.replace(/^\S*\s+/, '');
}

function overlapOf(said: string, more: string): number {
  for (let chars = Math.min(said.length, more.length, 2 * tailChars); chars > 0; chars -= 1) {
    if (chars < Math.min(leastOverlap, said.length)) return 0;
    if (said.endsWith(more.slice(0, chars))) return chars;
  }
  return 0;
}

/** With the tokens of both parts, and the thoughts. */
function withTotals(cut: Reply, reply: Reply): Reply {
  const thoughts = [cut.thoughts, reply.thoughts].filter((each) => each !== undefined).join('\n\n');
  const usage = sumOf(cut.usage, reply.usage);
  const perModel = perModelOf(cut, reply);
  return {
    ...reply,
    ...(thoughts !== '' && { thoughts }),
    ...(usage !== undefined && { usage }),
    ...(perModel.length > 0 && { statistics: { ...reply.statistics, usage_per_model: perModel } }),
  };
}

function sumOf<Some extends Pick<Usage, 'prompt_tokens' | 'completion_tokens' | 'total_tokens'>>(
  one: Some | undefined,
  other: Some | undefined,
): Some | undefined {
  if (one === undefined || other === undefined) return other ?? one;
  return {
    ...other,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    total_tokens: one.total_tokens + other.total_tokens,
  };
}

/** Of each model all that the replies took. */
function perModelOf(...replies: readonly Reply[]): ModelUsage[] {
  const byModel = new Map<string, ModelUsage>();
  for (const item of replies.flatMap(({ statistics }) => statistics?.usage_per_model ?? []))
    byModel.set(item.model, sumOf(byModel.get(item.model), item) ?? item);
  return [...byModel.values()];
}
