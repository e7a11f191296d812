import { isJsonObject, type JsonObject, toText } from '#base/json/json.ts';
import type { Chunk, Delta, FinishReason, ModelUsage, Statistics, ToolCallDelta, Usage } from '#contract/chat/chunk.ts';
import type { Message } from '#contract/chat/message.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { type PricedUsage, toModelUsage, toModelUsages } from '#domain/usage/usage.ts';

/**
 * Maximum number of calls per reply. Further calls are ignored. The model sees only the first ones and their results, and can
 * repeat the rest.
 */
const maxCalls = 128;
const maxArgumentsChars = 1_000_000;
/** Maximum number of all other collected characters: text, thoughts, names, and further fields of calls. */
const maxChars = 16_000_000;
const lastTurnNote = '\n\n[You cannot call more tools in this run. Answer now with the information that you have.]';

/** A complete tool call of a model. Further fields come from the upstream and are returned to it. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly [key: string]: unknown;
}

interface PartialCall {
  readonly id: string;
  readonly name: string;
  arguments: string;
  readonly otherFields: JsonObject;
}

/** One reply of the model. Returns the deltas for the user immediately, and collects the calls. */
export class Turn {
  readonly #calls = new Map<number, PartialCall>();
  readonly #reasoning: JsonObject = {};
  #chars = 0;
  text = '';
  finishReason: FinishReason | null = null;

  /** Adds a chunk, and returns its content for the user, or undefined if it has none. Ignores all choices but the first. */
  addChunk(chunk: Chunk): Delta | undefined {
    const choice = chunk.choices.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return undefined;
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
    const { role: _role, tool_calls, ...delta } = choice.delta ?? {};
    for (const part of tool_calls ?? []) this.#addCall(part);
    if (typeof delta.content === 'string') {
      this.#count(delta.content.length);
      this.text += delta.content;
    }
    this.#addReasoning(delta);
    for (const key in delta) if (delta[key] === null || delta[key] === '') delete delta[key];
    return Object.keys(delta).length === 0 ? undefined : delta;
  }

  /** Whether the reply ended before the model finished. */
  get isIncomplete(): boolean {
    return this.finishReason === 'length' || this.finishReason === 'content_filter';
  }

  /** The calls, ordered by index. */
  get calls(): ToolCall[] {
    const sortedCalls = [...this.#calls].sort(([a], [b]) => a - b);
    return sortedCalls.map(([, { id, name, arguments: args, otherFields }]) => ({
      ...otherFields,
      id,
      type: 'function',
      function: { name, arguments: args },
    }));
  }

  /** Returns the reply as a message for the model's next turn. */
  toMessage(): Message {
    return { role: 'assistant', content: this.text || null, ...this.#reasoning, tool_calls: this.calls };
  }

  #addCall({ index, id = '', type: _type, function: functionDelta, ...otherFields }: ToolCallDelta): void {
    if (!this.#calls.has(index) && this.#calls.size >= maxCalls) return;
    const call = this.#calls.get(index) ?? { id, name: functionDelta?.name ?? '', arguments: '', otherFields: {} };
    this.#count((functionDelta?.name ?? '').length + JSON.stringify(otherFields).length);
    call.arguments += functionDelta?.arguments ?? '';
    Object.assign(call.otherFields, otherFields);
    this.#calls.set(index, call);
    if (call.arguments.length > maxArgumentsChars)
      throw createSizeError(`returned more than ${maxArgumentsChars} characters of arguments in one call`);
  }

  /** Collects thoughts, because reasoning upstreams require them next to the tool calls in the next request. */
  #addReasoning(delta: Delta): void {
    for (const [key, value] of Object.entries(delta)) {
      if (!/^(reasoning|thinking)/.test(key)) continue;
      const before = this.#reasoning[key];
      if (typeof value === 'string') {
        this.#count(key.length + value.length);
        this.#reasoning[key] = toText(before) + value;
      } else if (Array.isArray(value)) {
        this.#count(key.length + JSON.stringify(value).length);
        if (Array.isArray(before)) for (const item of value) before.push(item);
        else this.#reasoning[key] = [...value];
      }
    }
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars > maxChars) throw createSizeError(`returned more than ${maxChars} characters in one reply`);
  }
}

function createSizeError(reason: string): ParleyError {
  return new ParleyError('upstream_failed', `The model ${reason}.`);
}

/**
 * Returns the messages of a run with the results of its last turn in the order of the calls. Media messages follow the results.
 */
export function sortByCallOrder(runMessages: readonly Message[]): Message[] {
  const lastTurnIndex = runMessages.findLastIndex(({ role }) => role === 'assistant');
  const calls = (runMessages[lastTurnIndex]?.tool_calls ?? []) as readonly ToolCall[];
  const getPosition = ({ role, tool_call_id: id }: Message): number =>
    role === 'tool' ? calls.findIndex((call) => call.id === id) : calls.length;
  return [
    ...runMessages.slice(0, lastTurnIndex + 1),
    ...runMessages.slice(lastTurnIndex + 1).sort((first, second) => getPosition(first) - getPosition(second)),
  ];
}

/** Returns the calls to run. An incomplete reply has none, because a partial call must not run. */
export function listCallsToRun(turn: Turn): ToolCall[] {
  return turn.isIncomplete ? [] : turn.calls;
}

/** Appends a note to the last result. The note tells the model that its next turn has no tools. */
export function appendLastTurnNote(results: readonly ToolMessage[]): void {
  const last = results.at(-1);
  if (last !== undefined) last.content += lastTurnNote;
}

/** Returns the number of turns in the messages that a run added. */
export function countTurns(runMessages: readonly Message[]): number {
  return runMessages.filter(({ role }) => role === 'assistant').length;
}

/** Returns the names of the functions in `tools` of a request. Ignores malformed entries. */
export function listToolNames(tools: unknown): Set<string> {
  const names = (Array.isArray(tools) ? tools : []).map((tool) =>
    isJsonObject(tool) && isJsonObject(tool.function) ? tool.function.name : undefined,
  );
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** Usage of one model request: its statistics if present, otherwise its usage under the model's name. */
export class TurnUsage {
  readonly #model: string;
  #usage: Usage | undefined;
  #statistics: Statistics | undefined;

  constructor(model: string) {
    this.#model = model;
  }

  addChunk(chunk: Chunk): void {
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.statistics) this.#statistics = chunk.statistics;
  }

  items(): ModelUsage[] {
    const parts = toModelUsages(this.#statistics?.usage_per_model);
    return parts.length > 0 || this.#usage === undefined ? parts : [toModelUsage(this.#model, this.#usage)];
  }

  /** Returns the items for pricing. An item that equals the usage of the reply gets its cached tokens, which have another price. */
  pricedItems(): PricedUsage[] {
    const [item, ...otherItems] = this.items();
    if (item === undefined || otherItems.length > 0 || item.prompt_tokens !== this.#usage?.prompt_tokens) return this.items();
    return [{ ...item, prompt_tokens_details: this.#usage.prompt_tokens_details }];
  }
}

/** A tool result in the form that the model reads. */
export interface ToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
  [key: string]: unknown;
}
