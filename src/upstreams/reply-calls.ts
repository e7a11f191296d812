import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { ChunkChoice, CompletionChoice, Delta, FinishReason } from '#contract/chat/chunk.ts';
import { type Message, toolCallsOf } from '#contract/chat/message.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

const maxCalls = 10_000;
/** Maximum characters of arguments that are held until the name of their call arrives. */
const maxHeldChars = 1024 * 1024;
/** OpenAI and Azure accept call IDs of up to 40 characters. */
const maxIdStem = 24;

const finishReasons: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'content_filter',
]);
/** Finish reasons of servers that use their own names. All other unknown reasons mean `stop`. */
const knownAliases: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'length'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['recitation', 'content_filter'],
]);

interface OpenCall {
  index: number;
  /** The ID that the upstream sent. Empty if it sent none. */
  sourceId: string;
  id: string;
  name: string;
  hasArguments: boolean;
  isSuppressed: boolean;
  /** The parts that arrived before the name. */
  held: JsonObject | undefined;
  heldArguments: string;
}

/** What the calls of a reply depend on. */
export interface CallFacts {
  /**
   * Returns a random ID. The IDs of calls that Parley creates contain one, so that no two replies share a call ID. Called only
   * for calls whose ID is missing or repeated.
   */
  readonly newId: () => string;
  /** The conversation that the reply continues. */
  readonly messages: readonly Message[];
  /** Names of the tools that the reply may call. Calls of other tools are suppressed. Absent: all. */
  readonly callableNames?: ReadonlySet<unknown> | undefined;
}

/**
 * Repairs the calls and finish reasons of one reply, so that every consumer can rely on them. Each call has its own `index`
 * and an `id` that is unique within the conversation, because some clients drop a call whose ID they have seen. Its first part has the `name`, later parts do not. `arguments` is a string.
 * A finish reason is a known value or null, and it is `tool_calls` or `function_call` exactly if the choice has such a call,
 * unless the reply was truncated or filtered. Objects that need no repair are returned unchanged.
 */
export class ReplyCalls {
  readonly #facts: CallFacts;
  /** Part of the IDs that Parley creates. Empty until the first one. */
  #idStem = '';
  readonly #choices = new Map<number, ChoiceCalls>();
  /** Choices that the upstream truncated or filtered. */
  readonly #cutOff = new Map<number, FinishReason>();
  /** IDs of the conversation. Undefined until the first call. */
  #ids: Set<unknown> | undefined;
  #createdIds = 0;
  /** Name of a tool whose call was suppressed, because the request does not allow it. */
  suppressedName: string | undefined;

  constructor(facts: CallFacts) {
    this.#facts = facts;
  }

  /** Returns the repaired choice of a chunk. Throws `UpstreamFault` if a call cannot be repaired. */
  toNormal(choice: ChunkChoice): ChunkChoice {
    const { index, delta, finish_reason: reason } = choice;
    const repaired = this.#toNormalDelta(index, delta);
    const finish = reason === null ? null : this.finishReason(index, reason);
    return repaired === delta && finish === reason ? choice : { ...choice, delta: repaired, finish_reason: finish };
  }

  /** Returns the repaired choice of a complete reply, whose calls have no `index`. */
  toNormalWhole(choice: CompletionChoice): CompletionChoice {
    const { index, message, finish_reason: reason } = choice;
    const { tool_calls: calls } = message;
    const hasIndexes = Array.isArray(calls) && calls.some((call) => isJsonObject(call) && call.index !== undefined);
    const numbered = hasIndexes ? { ...message, tool_calls: calls.map(withoutIndex) } : message;
    const repaired = this.#toNormalDelta(index, numbered as Delta);
    const finish = this.finishReason(index, reason ?? '') ?? this.endReason(index);
    const made = repaired.tool_calls;
    const isSame =
      repaired === numbered ||
      (Array.isArray(calls) && made?.length === calls.length && calls.every((call, at) => isSameCall(call, made[at])));
    if (isSame && numbered === message) return finish === reason ? choice : { ...choice, finish_reason: finish };
    const { tool_calls: _calls, ...rest } = repaired;
    const isEmpty = made === undefined && rest.function_call === undefined && typeof rest.content !== 'string';
    const toolCalls = made?.map(({ index: _index, ...call }) => call);
    const whole = { ...rest, ...(isEmpty && { content: '' }), ...(toolCalls !== undefined && { tool_calls: toolCalls }) };
    return { ...choice, message: { ...whole, role: 'assistant' }, finish_reason: finish };
  }

  /** Returns the finish reason of a choice that ends without one. */
  endReason(choice: number): FinishReason {
    const cutOff = this.#cutOff.get(choice);
    if (cutOff !== undefined) return cutOff;
    const calls = this.#choices.get(choice);
    if (calls === undefined) return 'stop';
    if (calls.hasToolCall) return 'tool_calls';
    return calls.hasFunctionCall ? 'function_call' : 'stop';
  }

  /** Returns whether a choice has called anything so far. */
  hasCalls(choice: number): boolean {
    const calls = this.#choices.get(choice);
    return calls?.hasToolCall === true || calls?.hasFunctionCall === true;
  }

  /** Returns the known value that a finish reason means. Null for an empty one, and for one of calls before any call. */
  finishReason(choice: number, reason: string): FinishReason | null {
    if (reason === '') return null;
    const known = finishReasons.has(reason) ? (reason as FinishReason) : (knownAliases.get(reason.toLowerCase()) ?? 'stop');
    if (known === 'length' || known === 'content_filter') this.#cutOff.set(choice, known);
    const settled = this.endReason(choice);
    // The calls may follow. Otherwise the end of the reply settles the reason.
    return settled === 'stop' && known !== 'stop' ? null : settled;
  }

  #toNormalDelta(choice: number, given: Delta): Delta {
    const delta = withoutMisshapen(given);
    const { tool_calls: parts, function_call: called } = delta;
    const hasParts = Array.isArray(parts) && parts.length > 0;
    if (!hasParts && !isJsonObject(called)) return delta;
    let calls = this.#choices.get(choice);
    if (calls === undefined) {
      calls = new ChoiceCalls({
        toUniqueId: (id) => this.#toUniqueId(id),
        isLimited: this.#facts.callableNames !== undefined,
        isAllowed: (name) => this.#isAllowed(name),
      });
      this.#choices.set(choice, calls);
    }
    const withFunction = isJsonObject(called) ? calls.toNormalFunctionCall(delta, called) : delta;
    return hasParts ? calls.toNormalDelta(withFunction, parts as unknown as readonly JsonObject[]) : withFunction;
  }

  #isAllowed(name: string): boolean {
    if (this.#facts.callableNames?.has(name) !== false) return true;
    this.suppressedName = name;
    return false;
  }

  #toUniqueId(id: string): string {
    this.#ids ??= new Set(this.#facts.messages.flatMap(toolCallsOf).map((call) => call.id));
    let unique = id;
    if (id === '' || this.#ids.has(id))
      this.#idStem ||= this.#facts
        .newId()
        .replace(/[^a-zA-Z0-9]/g, '')
        .slice(-maxIdStem);
    while (unique === '' || this.#ids.has(unique)) {
      unique = `call_${this.#idStem}_${this.#createdIds}`;
      this.#createdIds += 1;
    }
    this.#ids.add(unique);
    return unique;
  }
}

interface ChoiceRules {
  readonly toUniqueId: (id: string) => string;
  /** Whether the request does not allow every tool. */
  readonly isLimited: boolean;
  readonly isAllowed: (name: string) => boolean;
}

/** The calls of one choice. */
class ChoiceCalls {
  readonly #rules: ChoiceRules;
  readonly #usedIndexes = new Set<number>();
  #nextIndex = 0;
  /** The newest call by the index that the upstream sent. */
  readonly #byIndex = new Map<number, OpenCall>();
  /** The newest call by the index and the ID that the upstream sent. */
  readonly #byId = new Map<string, OpenCall>();
  #last: OpenCall | undefined;
  #functionName = '';
  #isFunctionSuppressed = false;
  #announcedCount = 0;
  hasToolCall = false;
  hasFunctionCall = false;

  constructor(rules: ChoiceRules) {
    this.#rules = rules;
  }

  toNormalDelta(delta: Delta, parts: readonly JsonObject[]): Delta {
    const touched = new Set<OpenCall>();
    const repaired = parts.flatMap((part) => this.#toNormalPart(part, touched) ?? []);
    if (repaired.length === parts.length && repaired.every((part, at) => part === parts[at])) return delta;
    const { tool_calls: _parts, ...rest } = delta;
    return repaired.length === 0 ? rest : { ...rest, tool_calls: repaired as unknown as NonNullable<Delta['tool_calls']> };
  }

  toNormalFunctionCall(delta: Delta, called: JsonObject): Delta {
    const name = toText(called.name);
    const isFirst = name !== '' && this.#functionName === '';
    if (isFirst && !this.#rules.isAllowed(name)) this.#isFunctionSuppressed = true;
    if (this.#isFunctionSuppressed) {
      const { function_call: _called, ...rest } = delta;
      return rest;
    }
    if (isFirst) {
      this.#functionName = name;
      this.hasFunctionCall = true;
    }
    const isClean = typeof called.arguments === 'string' && (isFirst || called.name === undefined);
    if (isClean) return delta;
    return { ...delta, function_call: { ...(isFirst && { name }), arguments: toArguments(called.arguments) } };
  }

  #toNormalPart(part: JsonObject, touched: Set<OpenCall>): JsonObject | undefined {
    const call = this.#find(part, touched) ?? this.#open(part);
    touched.add(call);
    this.#last = call;
    const called = isJsonObject(part.function) ? part.function : undefined;
    const name = toText((called ?? (isJsonObject(part.custom) ? part.custom : undefined))?.name);
    if (this.#rules.isLimited && call.name === '' && name !== '' && !call.isSuppressed) {
      call.isSuppressed = !this.#rules.isAllowed(name);
      // Clients expect indexes without gaps.
      if (!call.isSuppressed) call.index = this.#announcedCount++;
    }
    if (call.isSuppressed) return undefined;
    if (called === undefined && isJsonObject(part.custom)) return this.#toNormalCustom(call, part);
    const args = toArguments(called?.arguments);
    if (args !== '') call.hasArguments = true;
    return call.name === '' ? announce(call, part, args, (id) => this.#announced(id)) : toContinued(call, part, args);
  }

  #announced(sourceId: string): string {
    this.hasToolCall = true;
    return this.#rules.toUniqueId(sourceId);
  }

  /** A call of a custom tool keeps its own form. */
  #toNormalCustom(call: OpenCall, part: JsonObject): JsonObject {
    const name = toText((part.custom as JsonObject).name);
    if (call.name === '' && name !== '') {
      call.name = name;
      call.id = this.#announced(call.sourceId);
      return part.index === call.index && part.id === call.id ? part : { ...part, index: call.index, id: call.id };
    }
    return part.index === call.index ? part : { ...part, index: call.index };
  }

  /** Returns the call that a part continues. Undefined if the part starts a call. */
  #find(part: JsonObject, touched: ReadonlySet<OpenCall>): OpenCall | undefined {
    const [index, id] = [toIndex(part.index), toText(part.id)];
    const called = isJsonObject(part.function) ? part.function : {};
    const name = toText(called.name);
    const open = index === undefined ? this.#last : this.#byIndex.get(index);
    const known = id === '' ? open : this.#byId.get(toKey(index, id));
    if (known === undefined) {
      // The ID of a call may arrive after its first part.
      const canGetId = open !== undefined && open.sourceId === '' && !touched.has(open) && (open.name === '' || name === '');
      return canGetId ? open : undefined;
    }
    if (name === '' || known.name === '') return known;
    if (touched.has(known)) return undefined;
    if (id !== '') return known;
    // Some servers repeat the name in every part. A second object of arguments belongs to another call.
    const startsAnew = known.hasArguments && toArguments(called.arguments).trimStart().startsWith('{');
    return index !== undefined && name === known.name && !startsAnew ? known : undefined;
  }

  #open(part: JsonObject): OpenCall {
    if (this.#usedIndexes.size >= maxCalls)
      throw new UpstreamFault('broken', `The upstream sent more than ${maxCalls} tool calls.`);
    const [sourceIndex, sourceId] = [toIndex(part.index), toText(part.id)];
    const isFree = sourceIndex !== undefined && !this.#usedIndexes.has(sourceIndex);
    const index = isFree ? sourceIndex : this.#nextIndex;
    this.#usedIndexes.add(index);
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    const call: OpenCall = {
      ...{ index, sourceId, id: '', name: '' },
      ...{ hasArguments: false, isSuppressed: false, held: undefined, heldArguments: '' },
    };
    if (sourceIndex !== undefined) this.#byIndex.set(sourceIndex, call);
    if (sourceId !== '') this.#byId.set(toKey(sourceIndex, sourceId), call);
    return call;
  }
}

/** Returns the first part of a call that a consumer sees. Undefined as long as its name has not arrived. */
function announce(call: OpenCall, part: JsonObject, args: string, toId: (sourceId: string) => string): JsonObject | undefined {
  const called = isJsonObject(part.function) ? part.function : {};
  if (call.sourceId === '') call.sourceId = toText(part.id);
  const name = toText(called.name);
  if (name === '') {
    const { index: _index, id: _id, type: _type, function: _function, ...rest } = part;
    call.held = { ...call.held, ...rest };
    call.heldArguments += args;
    if (call.heldArguments.length > maxHeldChars)
      throw new UpstreamFault(
        'broken',
        `The upstream sent more than ${maxHeldChars} characters of arguments before the name of their call.`,
      );
    return undefined;
  }
  call.name = name;
  call.id = toId(call.sourceId);
  const isSame = part.index === call.index && part.id === call.id && part.type === 'function';
  if (isSame && called.arguments === args && call.held === undefined) return part;
  const heldArguments = call.heldArguments;
  call.heldArguments = '';
  return {
    ...call.held,
    ...part,
    ...{ index: call.index, id: call.id, type: 'function' },
    function: { ...called, arguments: heldArguments + args },
  };
}

function toContinued(call: OpenCall, part: JsonObject, args: string): JsonObject {
  const { id, type: _type, function: called, index, ...rest } = part;
  if (!isJsonObject(called))
    return index === call.index && (id ?? called ?? null) === null
      ? part
      : { index: call.index, ...rest, ...noArguments(called) };
  const isSame = index === call.index && (id ?? null) === null && (called.name ?? null) === null && called.arguments === args;
  if (isSame) return part;
  const { name: _name, ...others } = called;
  return { index: call.index, ...rest, function: { ...others, arguments: args } };
}

function noArguments(called: unknown): JsonObject {
  return called === undefined || called === null ? {} : { function: { arguments: '' } };
}

/** Returns the delta without calls that are not objects. Returns the original object if all calls are objects. */
function withoutMisshapen(delta: Delta): Delta {
  const { tool_calls: parts, function_call: called, ...rest } = delta as Record<string, unknown>;
  const hasParts = (parts ?? null) !== null;
  const list = Array.isArray(parts) ? parts.filter(isJsonObject) : [];
  const hasBadParts = hasParts && !(Array.isArray(parts) && list.length === parts.length);
  const hasBadCall = (called ?? null) !== null && !isJsonObject(called);
  if (!hasBadParts && !hasBadCall) return delta;
  return {
    ...rest,
    ...(list.length > 0 && { tool_calls: list }),
    ...(isJsonObject(called) && { function_call: called }),
  } as unknown as Delta;
}

/** Some servers send the arguments as the object itself. */
function toArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toIndex(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function toKey(index: number | undefined, id: string): string {
  return `${index ?? ''}:${id}`;
}

function withoutIndex(call: unknown): unknown {
  if (!isJsonObject(call) || call.index === undefined) return call;
  const { index: _index, ...rest } = call;
  return rest;
}

function isSameCall(call: unknown, repaired: unknown): boolean {
  if (!isJsonObject(call) || !isJsonObject(repaired)) return false;
  const { index: _index, ...rest } = repaired;
  return call.id === rest.id && call.type === rest.type && call.index === undefined && isSameFunction(call, rest);
}

function isSameFunction(call: JsonObject, repaired: JsonObject): boolean {
  const [own, others] = [call.function, repaired.function];
  if (own === others) return true;
  return isJsonObject(own) && isJsonObject(others) && own.name === others.name && own.arguments === others.arguments;
}
