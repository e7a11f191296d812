import type { ChatRequest } from '#contract/chat-request.ts';
import type { MessageParam, MessagesRequest } from '#contract/messages/dialect.ts';

type Deliberation = Pick<MessagesRequest, 'thinking' | 'output_config'>;

/** Tokens of thought for each effort. */
const budgets: ReadonlyMap<unknown, number> = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 32_768],
  ['max', 65_536],
]);
/** The dialect's own words for efforts it calls otherwise. */
const renamed: ReadonlyMap<unknown, string> = new Map([['minimal', 'low']]);
const leastBudget = 1024;
/** Share of `max_tokens` that thoughts may take at most: the rest is for the answer. */
const mostShare = 0.8;

export interface Thinker {
  readonly model: string;
  readonly maxTokens: number;
  readonly messages: readonly MessageParam[];
  /** Whether a call of a tool is demanded, which rules out thinking. */
  readonly mustCall: boolean;
}

/** `reasoning_effort` as thinking: a Claude of 4.6 or later is told the effort, other models get a budget of tokens. */
export function toThinking(request: ChatRequest, thinker: Thinker): Deliberation {
  const { reasoning_effort: effort } = request;
  if ((request.thinking ?? null) !== null || !(effort === 'none' || budgets.has(effort))) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (thinker.mustCall || hasThoughtlessCall(thinker.messages)) return {};
  if (decidesItself(thinker.model))
    return { thinking: { type: 'adaptive' }, output_config: { effort: renamed.get(effort) ?? String(effort) } };
  const budget = Math.min(budgets.get(effort) ?? 0, Math.floor(thinker.maxTokens * mostShare));
  return budget < leastBudget ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** Whether the turn that goes on has calls without the thoughts that led to them: the dialect then refuses to think. */
function hasThoughtlessCall(messages: readonly MessageParam[]): boolean {
  for (const { role, content } of messages.toReversed()) {
    const types = typeof content === 'string' ? ['text'] : content.map(({ type }) => type);
    if (role === 'user' && !types.includes('tool_result')) return false;
    if (role === 'assistant' && types.includes('tool_use') && !types[0]?.endsWith('thinking')) return true;
  }
  return false;
}

/** `claude-<family>-<major>[-<minor>]`, maybe with a date or a vendor's prefix. */
function decidesItself(model: string): boolean {
  const [, major = '', minor = '0'] = /claude-[a-z]+-(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? [];
  return Number(major) > 4 || (major === '4' && Number(minor) >= 6);
}
