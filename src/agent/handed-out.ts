import type { Delta, FinishReason } from '#contract/chat/chunk.ts';
import type { ToolCall } from './turn.ts';

/** How a caller is handed calls of its own tools: all at once as tool calls, or the first as a function call. */
export type HandsOut = 'all tools' | 'one function';

/** The end of a reply that hands its caller calls; one delta for each, since clients read the first of a delta alone. */
export function toHandedOut(
  calls: readonly ToolCall[],
  handsOut: HandsOut,
): { readonly deltas: readonly Delta[]; readonly finishReason: FinishReason } {
  const [first] = calls;
  if (handsOut === 'all tools' || first === undefined)
    return { deltas: calls.map((call, index) => ({ tool_calls: [{ ...call, index }] })), finishReason: 'tool_calls' };
  const { name, arguments: args } = first.function;
  return { deltas: [{ function_call: { name, arguments: args } }], finishReason: 'function_call' };
}
