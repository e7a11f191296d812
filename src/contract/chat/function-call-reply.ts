import type { Chunk, ChunkChoice, FunctionCallDelta, ToolCallDelta } from './chunk.ts';

/** Converts the tool calls of one normalized reply to the old form: the first call of each choice becomes its function call. */
export class FunctionCallReply {
  /** Index of the tool call that becomes the function call, by choice. */
  readonly #calls = new Map<number, number>();

  /** Returns the chunk with `function_call` instead of `tool_calls`, or the same object if it has none. Needs all chunks in order. */
  toFunctionCall(chunk: Chunk): Chunk {
    if (!chunk.choices.some(isToolForm)) return chunk;
    return { ...chunk, choices: chunk.choices.map((choice) => (isToolForm(choice) ? this.#toOldForm(choice) : choice)) };
  }

  #toOldForm({ delta, finish_reason: reason, ...choice }: ChunkChoice): ChunkChoice {
    const { tool_calls: calls, ...rest } = delta;
    const call = this.#toCall(choice.index as number, calls ?? []);
    return {
      ...choice,
      index: choice.index as number,
      delta: call === undefined ? rest : { ...rest, function_call: call },
      finish_reason: reason === 'tool_calls' ? 'function_call' : reason,
    };
  }

  #toCall(choice: number, calls: readonly ToolCallDelta[]): FunctionCallDelta | undefined {
    if (calls.length === 0) return undefined;
    const chosen = this.#calls.get(choice) ?? Math.min(...calls.map(({ index }) => index));
    this.#calls.set(choice, chosen);
    return joined(calls.flatMap(({ index, function: part }) => (index === chosen && part !== undefined ? [part] : [])));
  }
}

/** Returns one part for all parts of one call in a chunk. */
function joined(parts: readonly FunctionCallDelta[]): FunctionCallDelta | undefined {
  if (parts.length < 2) return parts[0];
  return { ...parts[0], arguments: parts.map((part) => part.arguments ?? '').join('') };
}

function isToolForm({ delta, finish_reason: reason }: ChunkChoice): boolean {
  return (delta.tool_calls ?? null) !== null || reason === 'tool_calls';
}
