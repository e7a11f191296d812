import type { JsonObject } from '#base/json/json.ts';
import type { Chunk, Delta, FinishReason, ToolCallDelta } from '#contract/chat/chunk.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError } from '#contract/errors/errors.ts';

/** Of one reply. Further ones are as if the model had not asked: it sees what came of these, and can ask again. */
const maxCalls = 128;
const maxArgumentsLength = 1_000_000;
/** Of all else that is collected: text, thoughts, names, and what comes with a call. */
const maxLength = 16_000_000;

/** A call a model asked for, whole. Further fields came from the upstream and are given back to it. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly [key: string]: unknown;
}

interface CallInParts {
  readonly id: string;
  readonly name: string;
  arguments: string;
  readonly rest: JsonObject;
}

/** One reply of the model: passes on at once what is for the user, and collects what the loop acts on. */
export class Turn {
  readonly #calls = new Map<number, CallInParts>();
  readonly #reasoning: JsonObject = {};
  #length = 0;
  text = '';
  finishReason: FinishReason | null = null;

  /** What of the chunk is for the user; undefined if nothing is. Choices beyond the first are ignored. */
  take(chunk: Chunk): Delta | undefined {
    const choice = chunk.choices.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return undefined;
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
    const { role: _role, tool_calls, ...delta } = choice.delta ?? {};
    for (const part of tool_calls ?? []) this.#takeCall(part);
    if (typeof delta.content === 'string') {
      this.#count(delta.content.length);
      this.text += delta.content;
    }
    this.#takeReasoning(delta);
    for (const key in delta) if (delta[key] === null || delta[key] === '') delete delta[key];
    return Object.keys(delta).length === 0 ? undefined : delta;
  }

  /** Whether the reply ended before the model was done. */
  get isCutOff(): boolean {
    return this.finishReason === 'length' || this.finishReason === 'content_filter';
  }

  /** The calls in the order of their indexes. */
  get calls(): ToolCall[] {
    const inOrder = [...this.#calls].sort(([a], [b]) => a - b);
    return inOrder.map(([, { id, name, arguments: args, rest }]) => ({
      ...rest,
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
  }

  /** The reply as a message for the model's next turn. */
  toMessage(): Message {
    return { role: 'assistant', content: this.text || null, ...this.#reasoning, tool_calls: this.calls };
  }

  #takeCall({ index, id = '', type: _type, function: said, ...rest }: ToolCallDelta): void {
    if (!this.#calls.has(index) && this.#calls.size >= maxCalls) return;
    const call = this.#calls.get(index) ?? { id, name: said?.name ?? '', arguments: '', rest: {} };
    this.#count((said?.name ?? '').length + JSON.stringify(rest).length);
    call.arguments += said?.arguments ?? '';
    Object.assign(call.rest, rest);
    this.#calls.set(index, call);
    if (call.arguments.length > maxArgumentsLength)
      throw tooMuch(`asked for more than ${maxArgumentsLength} characters of arguments`);
  }

  /** Upstreams that think aloud want their thoughts back beside their tool calls. */
  #takeReasoning(delta: Delta): void {
    for (const [key, value] of Object.entries(delta)) {
      if (!/^(reasoning|thinking)/.test(key)) continue;
      const before = this.#reasoning[key];
      if (typeof value === 'string') {
        this.#count(key.length + value.length);
        this.#reasoning[key] = textOf(before) + value;
      } else if (Array.isArray(value)) {
        this.#count(key.length + JSON.stringify(value).length);
        if (Array.isArray(before)) for (const item of value) before.push(item);
        else this.#reasoning[key] = [...value];
      }
    }
  }

  #count(length: number): void {
    this.#length += length;
    if (this.#length > maxLength) throw tooMuch(`said more than ${maxLength} characters in one reply`);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function tooMuch(what: string): ParleyError {
  return new ParleyError('upstream_failed', `The model ${what}.`);
}
