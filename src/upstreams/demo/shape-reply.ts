import type { Tokens } from '#base/text-tokens.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import type { FinishReason } from '#contract/chunk.ts';
import type { Answer, PlannedCall } from './answer.ts';
import type { ToolOffer } from './read-tools.ts';

/** Where a reply has to end. */
export interface Bounds {
  readonly stop: readonly string[];
  readonly maxTokens: number;
}

export interface ShapedReply {
  readonly content: string;
  readonly calls: readonly PlannedCall[];
  readonly finish: FinishReason;
  readonly tokens: number;
}

export function readBounds(request: ChatRequest): Bounds {
  const { stop, max_tokens, max_completion_tokens } = request;
  const given = Array.isArray(stop) ? stop : [stop];
  const most = max_completion_tokens ?? max_tokens;
  return {
    stop: given.filter((word): word is string => typeof word === 'string' && word !== ''),
    maxTokens: typeof most === 'number' && most > 0 ? most : Number.POSITIVE_INFINITY,
  };
}

/** The answer cut where a stop sequence or the token limit ends it. */
export function shapeReply(answer: Answer, bounds: Bounds & { readonly form: ToolOffer['form'] }, tokens: Tokens): ShapedReply {
  const content = cutAtStop(answer.content, bounds.stop);
  const used = tokens.count(content);
  if (used > bounds.maxTokens) {
    return { content: tokens.first(content, bounds.maxTokens), calls: [], finish: 'length', tokens: bounds.maxTokens };
  }
  let left = bounds.maxTokens - used;
  let spent = used;
  const calls: PlannedCall[] = [];
  for (const call of answer.calls ?? []) {
    const needed = tokens.count(call.name) + tokens.count(call.arguments);
    if (needed > left) {
      const forArguments = left - tokens.count(call.name);
      if (forArguments > 0) calls.push({ name: call.name, arguments: tokens.first(call.arguments, forArguments) });
      return { content, calls, finish: 'length', tokens: bounds.maxTokens };
    }
    calls.push(call);
    left -= needed;
    spent += needed;
  }
  if (calls.length === 0) return { content, calls, finish: 'stop', tokens: spent };
  return { content, calls, finish: bounds.form === 'functions' ? 'function_call' : 'tool_calls', tokens: spent };
}

function cutAtStop(content: string, stop: readonly string[]): string {
  const ends = stop.map((word) => content.indexOf(word)).filter((at) => at !== -1);
  return content.slice(0, Math.min(content.length, ...ends));
}
