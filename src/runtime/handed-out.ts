import type { Delta, FinishReason } from '#contract/chunk.ts';
import type { ToolCall } from './turn.ts';

/** How a caller is handed calls of its own tools: all at once as tool calls, or the first as a function call. */
export type HandsOut = 'all tools' | 'one function';

/** The end of a reply that hands its caller calls. */
export function toHandedOut(
  calls: readonly ToolCall[],
  handsOut: HandsOut,
): { readonly delta: Delta; readonly finishReason: FinishReason } {
  const [first] = calls;
  if (handsOut === 'all tools' || first === undefined)
    return { delta: { tool_calls: calls.map((call, index) => ({ ...call, index })) }, finishReason: 'tool_calls' };
  const { name, arguments: args } = first.function;
  return { delta: { function_call: { name, arguments: args } }, finishReason: 'function_call' };
}
