import type { ChatRequest } from '#contract/chat-request.ts';
import type { MessageParam, MessagesRequest } from '#contract/messages/dialect.ts';
import { decidesItself, isEffort, toBudget } from '../prompt/claude-thinking.ts';

type ThinkingFields = Pick<MessagesRequest, 'thinking' | 'output_config'>;

/** The dialect's own words for efforts it calls otherwise. */
const renamed: ReadonlyMap<unknown, string> = new Map([['minimal', 'low']]);

export interface ThinkingContext {
  readonly model: string;
  readonly maxTokens: number;
  readonly messages: readonly MessageParam[];
  /** Whether a call of a tool is demanded, which rules out thinking. */
  readonly mustCall: boolean;
}

/** `reasoning_effort` as thinking: a Claude of 4.6 or later gets the effort, other models get a budget of tokens. */
export function toThinking(request: ChatRequest, context: ThinkingContext): ThinkingFields {
  const { reasoning_effort: effort } = request;
  if ((request.thinking ?? null) !== null || !(effort === 'none' || isEffort(effort))) return {};
  if (effort === 'none') return { thinking: { type: 'disabled' } };
  if (context.mustCall || hasThoughtlessCall(context.messages)) return {};
  if (decidesItself(context.model))
    return { thinking: { type: 'adaptive' }, output_config: { effort: renamed.get(effort) ?? String(effort) } };
  const budget = toBudget(effort, context.maxTokens);
  return budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
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
