import { isJsonObject } from '#base/json.ts';
import type { Chunk, ChunkChoice, Delta, FunctionCallDelta, ToolCallDelta } from './chunk.ts';

type PlacedCall = ToolCallDelta & { readonly index: number };

/** Turns the tool calls of one reply into the old form: the first call of each choice becomes its function call, the others are left out. */
export class FunctionCallReply {
  /** By choice: the tool call that is told. */
  readonly #told = new Map<number, PlacedCall>();

  /** The chunk with `function_call` for `tool_calls`; the same object where it has none. To be given all chunks, in their order. */
  toFunctionCall(chunk: Chunk): Chunk {
    if (!chunk.choices.some((choice) => this.#isToTell(choice))) return chunk;
    return { ...chunk, choices: chunk.choices.map((choice) => (this.#isToTell(choice) ? this.#toOldForm(choice) : choice)) };
  }

  #toOldForm(choice: ChunkChoice): ChunkChoice {
    const { tool_calls, ...rest } = choice.delta ?? {};
    const call = this.#functionCall(choice.index, Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : []);
    const delta: Delta = call === undefined ? rest : { ...rest, function_call: call };
    return { ...choice, delta, finish_reason: this.#endsInCall(choice) ? 'function_call' : choice.finish_reason };
  }

  #isToTell(choice: ChunkChoice): boolean {
    return (choice.delta?.tool_calls ?? null) !== null || this.#endsInCall(choice);
  }

  /** Some upstreams stop where they called. */
  #endsInCall({ index, finish_reason: reason }: ChunkChoice): boolean {
    return reason === 'tool_calls' || (reason === 'stop' && this.#told.has(index));
  }

  #functionCall(choice: number, calls: readonly ToolCallDelta[]): FunctionCallDelta | undefined {
    const placed = calls.map((call, position) => ({ ...call, index: call.index ?? position }));
    const [first] = placed.toSorted((one, other) => one.index - other.index);
    const told = this.#told.get(choice) ?? first;
    if (told === undefined) return undefined;
    this.#told.set(choice, told);
    return placed.find((call) => isSameCall(call, told))?.function;
  }
}

/** Upstreams that send calls whole may number none of them, or all alike: then the ids differ. */
function isSameCall(call: PlacedCall, told: PlacedCall): boolean {
  return call.index === told.index && (!call.id || !told.id || call.id === told.id);
}
