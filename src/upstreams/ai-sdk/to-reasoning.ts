import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { decidesItself, toBudget } from '../prompt/claude-thinking.ts';
import type { Dialect } from './dialect.ts';

type Effort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

const efforts: ReadonlySet<unknown> = new Set<Effort>(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
/** Google's models that cannot think refuse to be asked for their thoughts. */
const thoughtless = /gemini-(1|2\.0)|gemma|learnlm/i;

/** How much the model shall think: an effort, and what the vendor's own options say of it. */
export interface Reasoning {
  readonly effort?: Effort;
  readonly own: JsonObject;
  /** Tokens of the answer alone, if the vendor's package adds those of thought. */
  readonly maxOutputTokens?: number;
}

export interface ThinkingContext {
  readonly model: string;
  readonly prompt: LanguageModelV4Prompt;
  /** Whether a call of a tool is demanded. */
  readonly mustCall: boolean;
  /** Tokens of thoughts and answer together. */
  readonly maxTokens: number | undefined;
}

/** `reasoning_effort`, or `thinking` with a budget, which wins. Nothing if neither was asked for: the model's own default holds. */
export function toReasoning(request: ChatRequest, dialect: Dialect, context: ThinkingContext): Reasoning {
  const { reasoning_effort: given, thinking } = request;
  const asked = isJsonObject(thinking) ? thinking : undefined;
  const isOff = asked === undefined ? given === 'none' : asked.type === 'disabled';
  if (isOff) return { effort: 'none', own: {} };
  const budget = typeof asked?.budget_tokens === 'number' ? asked.budget_tokens : undefined;
  const effort = efforts.has(given) && budget === undefined ? { effort: given as Effort } : {};
  if (asked === undefined && effort.effort === undefined) return { own: {} };
  switch (dialect.name) {
    case 'gemini':
    case 'vertex':
      return { ...effort, own: toThinkingConfig(budget, context) };
    case 'bedrock':
      return mayThink(context) ? withinBound({ ...effort, own: toReasoningConfig(budget, asked) }, budget, context) : { own: {} };
    case 'mistral':
      return { ...effort, own: {} };
  }
}

function toThinkingConfig(budget: number | undefined, { model }: ThinkingContext): JsonObject {
  if (thoughtless.test(model)) return {};
  return { thinkingConfig: { includeThoughts: true, ...(budget !== undefined && { thinkingBudget: budget }) } };
}

function toReasoningConfig(budget: number | undefined, asked: JsonObject | undefined): JsonObject {
  if (budget !== undefined) return { reasoningConfig: { type: 'enabled', budgetTokens: budget } };
  return asked?.type === 'adaptive' ? { reasoningConfig: { type: 'adaptive' } } : {};
}

/** The package adds a budget to the bound, and takes a share of what the model can for an effort: both together may be more than it takes. */
function withinBound(given: Reasoning, asked: number | undefined, { model, maxTokens }: ThinkingContext): Reasoning {
  if (maxTokens === undefined || !/claude/i.test(model)) return given;
  if (asked !== undefined) return { ...given, maxOutputTokens: Math.max(1, maxTokens - asked) };
  if (given.effort === undefined || decidesItself(model)) return given;
  const budget = toBudget(given.effort, maxTokens);
  if (budget === undefined) return { own: {} };
  return { own: toReasoningConfig(budget, undefined), maxOutputTokens: maxTokens - budget };
}

/** A Claude refuses to think if a call is demanded, and in a turn whose calls come without the thoughts that led to them. */
function mayThink({ model, prompt, mustCall }: ThinkingContext): boolean {
  if (!/claude/i.test(model)) return true;
  if (mustCall) return false;
  for (const { role, content } of prompt.toReversed()) {
    if (role === 'user') return true;
    if (role !== 'assistant') continue;
    const types: string[] = content.map(({ type }) => type);
    if (types.includes('tool-call') && !types.includes('reasoning')) return false;
  }
  return true;
}
