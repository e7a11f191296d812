import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { FunctionCallDelta, RawChunk, ToolCallDelta } from './chunk.ts';

type PlacedCall = ToolCallDelta & { readonly index: number };

/** Turns the tool calls of one reply into the old form: the first call of each choice becomes its function call, the others are left out. */
export class FunctionCallReply {
  /** By choice: the tool call that becomes its function call. */
  readonly #calls = new Map<unknown, PlacedCall>();

  /** The chunk with `function_call` for `tool_calls`; the same object if it has none. To be given all chunks, in their order. */
  toFunctionCall(chunk: RawChunk): RawChunk {
    if (!chunk.choices.some((choice) => this.#changes(choice))) return chunk;
    return { ...chunk, choices: chunk.choices.map((choice) => (this.#changes(choice) ? this.#toOldForm(choice) : choice)) };
  }

  #toOldForm(choice: JsonObject): JsonObject {
    const { tool_calls, ...rest } = isJsonObject(choice.delta) ? choice.delta : {};
    const calls = Array.isArray(tool_calls) ? (tool_calls.filter(isJsonObject) as unknown as ToolCallDelta[]) : [];
    const call = this.#functionCall(choice.index, calls);
    const delta = call === undefined ? rest : { ...rest, function_call: call };
    return { ...choice, delta, finish_reason: this.#endsInCall(choice) ? 'function_call' : choice.finish_reason };
  }

  #changes(choice: JsonObject): boolean {
    const { delta } = choice;
    return (isJsonObject(delta) && (delta.tool_calls ?? null) !== null) || this.#endsInCall(choice);
  }

  /** Some upstreams report `stop` for a reply that ends in a call. */
  #endsInCall({ index, finish_reason: reason }: JsonObject): boolean {
    return reason === 'tool_calls' || (reason === 'stop' && this.#calls.has(index));
  }

  #functionCall(choice: unknown, calls: readonly ToolCallDelta[]): FunctionCallDelta | undefined {
    const placed = calls.map((call, position) => ({ ...call, index: call.index ?? position }));
    const [first] = placed.toSorted((one, other) => one.index - other.index);
    const chosen = this.#calls.get(choice) ?? first;
    if (chosen === undefined) return undefined;
    this.#calls.set(choice, chosen);
    return placed.find((call) => isSameCall(call, chosen))?.function;
  }
}

/** Upstreams that send calls whole may number none of them, or all alike: then the ids differ. */
function isSameCall(call: PlacedCall, chosen: PlacedCall): boolean {
  return call.index === chosen.index && (!call.id || !chosen.id || call.id === chosen.id);
}
