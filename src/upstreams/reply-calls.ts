import { filterObjects, isJsonObject, type JsonObject, toObject, toText } from '#base/json/json.ts';
import type { ChunkChoice, CompletionChoice, Delta, FinishReason } from '#contract/chat/chunk.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

const maxCalls = 10_000;
/** Maximum number of characters of arguments and fields of one reply that are held until the names of their calls arrive. */
const maxHeldChars = 1024 * 1024;
/** OpenAI and Azure accept call IDs of up to 40 characters. */
const maxIdStemChars = 24;

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

/** Throws `UpstreamError` if a reply that already has `count` tool calls must not start another. */
export function checkCallCount(count: number): void {
  if (count >= maxCalls) throw new UpstreamError('broken', `The upstream sent more than ${maxCalls} tool calls.`);
}

interface OpenCall {
  /** -1 until the name arrives. */
  index: number;
  /** The ID that the upstream sent. Empty if it sent none. */
  sourceId: string;
  id: string;
  name: string;
  /** Whether the arguments so far end with a closing brace. */
  endsWithBrace: boolean;
  isSuppressed: boolean;
  /** The parts that arrived before the name. */
  heldFields: JsonObject | undefined;
  heldArguments: string;
}

/** Context for the calls of a reply. */
export interface CallContext {
  /**
   * Returns a random ID. The IDs of calls that Parley creates contain one, so that no two replies share a call ID. Called only
   * for calls whose ID is missing or repeated.
   */
  readonly newId: () => string;
  /** The conversation that the reply continues. */
  readonly messages: readonly Message[];
  /** Names of the tools that the reply may call. Calls of other tools are suppressed. Undefined allows all tools. */
  readonly callableNames?: ReadonlySet<unknown> | undefined;
}

/**
 * Repairs the calls and finish reasons of one reply, so that every consumer can rely on them:
 * - Each call has its own `index`. Indexes have no gaps, because some clients fail otherwise.
 * - The `id` of a call is unique within the conversation, because some clients drop repeated IDs.
 * - The first part of a call has the `name`, later parts do not. `arguments` is a string.
 * - A finish reason is a known value or null. It is `tool_calls` or `function_call` exactly if the choice has such a call, unless
 * the reply was truncated or filtered.
 *
 * Objects that need no repair are returned unchanged.
 */
export class ReplyCalls {
  readonly #context: CallContext;
  /** Random part of the IDs that Parley creates. Empty until Parley creates the first ID. */
  #idStem = '';
  readonly #choices = new Map<number, ChoiceCalls>();
  /** Choices that the upstream truncated or filtered. */
  readonly #truncationReasons = new Map<number, FinishReason>();
  /** IDs of the conversation. Undefined until the first call. */
  #ids: Set<unknown> | undefined;
  #createdIdCount = 0;
  #heldChars = 0;
  /** Name of a tool whose call was suppressed, because the request does not allow it. */
  suppressedName: string | undefined;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Returns the repaired choice of a chunk. Throws `UpstreamError` if a call cannot be repaired. */
  normalizeChoice(choice: ChunkChoice): ChunkChoice {
    const { index, delta, finish_reason: reason } = choice;
    const repaired = this.#normalizeDelta(index, delta);
    const finish = reason === null ? null : this.#normalizeFinishReason(index, reason);
    return repaired === delta && finish === reason ? choice : { ...choice, delta: repaired, finish_reason: finish };
  }

  /** Returns the repaired choice of a complete reply, whose calls have no `index`. */
  normalizeCompletionChoice(choice: CompletionChoice): CompletionChoice {
    const { index, message, finish_reason: reason } = choice;
    const { tool_calls: calls } = message;
    const hasIndexes = Array.isArray(calls) && calls.some((call) => isJsonObject(call) && call.index !== undefined);
    const numbered = hasIndexes ? { ...message, tool_calls: calls.map(removeIndex) } : message;
    const repaired = this.#normalizeDelta(index, numbered as Delta);
    const finish = this.#normalizeFinishReason(index, reason ?? '') ?? this.getEndReason(index);
    const repairedCalls = repaired.tool_calls;
    const isSame =
      repaired === numbered ||
      (Array.isArray(calls) &&
        repairedCalls?.length === calls.length &&
        calls.every((call, index) => isSameCall(call, repairedCalls[index])));
    if (isSame && numbered === message) return finish === reason ? choice : { ...choice, finish_reason: finish };
    const { tool_calls: _calls, ...fields } = repaired;
    const isEmpty = repairedCalls === undefined && fields.function_call === undefined && typeof fields.content !== 'string';
    const toolCalls = repairedCalls?.map(({ index: _index, ...call }) => call);
    const repairedMessage = {
      ...fields,
      ...(isEmpty && { content: '' }),
      ...(toolCalls !== undefined && { tool_calls: toolCalls }),
    };
    return { ...choice, message: { ...repairedMessage, role: 'assistant' }, finish_reason: finish };
  }

  /** Returns the finish reason of a choice that ends without one. */
  getEndReason(choice: number): FinishReason {
    const truncationReason = this.#truncationReasons.get(choice);
    if (truncationReason !== undefined) return truncationReason;
    const calls = this.#choices.get(choice);
    if (calls === undefined) return 'stop';
    if (calls.hasToolCall) return 'tool_calls';
    return calls.hasFunctionCall ? 'function_call' : 'stop';
  }

  /** Returns whether a choice has a call so far. */
  hasCalls(choice: number): boolean {
    const calls = this.#choices.get(choice);
    return calls?.hasToolCall === true || calls?.hasFunctionCall === true;
  }

  /** Converts a finish reason to a known value. Returns null for an empty reason, and for `tool_calls` before any call. */
  #normalizeFinishReason(choice: number, reason: string): FinishReason | null {
    if (reason === '') return null;
    const knownReason = finishReasons.has(reason) ? (reason as FinishReason) : (knownAliases.get(reason.toLowerCase()) ?? 'stop');
    if (knownReason === 'length' || knownReason === 'content_filter') this.#truncationReasons.set(choice, knownReason);
    const settled = this.getEndReason(choice);
    // The calls may follow. Otherwise the end of the reply settles the reason.
    return settled === 'stop' && knownReason !== 'stop' ? null : settled;
  }

  #normalizeDelta(choice: number, input: Delta): Delta {
    const delta = removeMalformedCalls(input);
    const { tool_calls: parts, function_call: functionCall } = delta;
    const hasParts = Array.isArray(parts) && parts.length > 0;
    if (!hasParts && !isJsonObject(functionCall)) return delta;
    let calls = this.#choices.get(choice);
    if (calls === undefined) {
      calls = new ChoiceCalls({
        toUniqueId: (id) => this.#toUniqueId(id),
        isAllowed: (name) => this.#isAllowed(name),
        addHeldChars: (count) => this.#addHeldChars(count),
      });
      this.#choices.set(choice, calls);
    }
    const withFunction = isJsonObject(functionCall) ? calls.normalizeFunctionCall(delta, functionCall) : delta;
    return hasParts ? calls.normalizeDelta(withFunction, parts as unknown as readonly JsonObject[]) : withFunction;
  }

  #addHeldChars(count: number): void {
    this.#heldChars += count;
    if (this.#heldChars > maxHeldChars)
      throw new UpstreamError('broken', `The upstream sent more than ${maxHeldChars} characters of calls before their names.`);
  }

  #isAllowed(name: string): boolean {
    if (this.#context.callableNames?.has(name) !== false) return true;
    this.suppressedName = name;
    return false;
  }

  #toUniqueId(id: string): string {
    this.#ids ??= new Set(this.#context.messages.flatMap(getToolCalls).map((call) => call.id));
    let unique = id;
    if (id === '' || this.#ids.has(id))
      this.#idStem ||= this.#context
        .newId()
        .replace(/[^a-zA-Z0-9]/g, '')
        .slice(-maxIdStemChars);
    while (unique === '' || this.#ids.has(unique)) {
      unique = `call_${this.#idStem}_${this.#createdIdCount}`;
      this.#createdIdCount += 1;
    }
    this.#ids.add(unique);
    return unique;
  }
}

interface ChoiceRules {
  readonly toUniqueId: (id: string) => string;
  readonly isAllowed: (name: string) => boolean;
  /** Counts characters of a call without a name. Throws `UpstreamError` if the reply has too many of them. */
  readonly addHeldChars: (count: number) => void;
}

/** The calls of one choice. */
class ChoiceCalls {
  readonly #rules: ChoiceRules;
  /** The newest call by the index that the upstream sent. */
  readonly #byIndex = new Map<number, OpenCall>();
  /** The newest call by the index and the ID that the upstream sent. */
  readonly #byId = new Map<string, OpenCall>();
  #last: OpenCall | undefined;
  #functionName = '';
  #isFunctionSuppressed = false;
  #openedCount = 0;
  #announcedCount = 0;
  hasToolCall = false;
  hasFunctionCall = false;

  constructor(rules: ChoiceRules) {
    this.#rules = rules;
  }

  normalizeDelta(delta: Delta, parts: readonly JsonObject[]): Delta {
    const callsOfDelta = new Set<OpenCall>();
    const repaired = parts.flatMap((part) => this.#normalizePart(part, callsOfDelta) ?? []);
    if (repaired.length === parts.length && repaired.every((part, index) => part === parts[index])) return delta;
    const { tool_calls: _parts, ...fields } = delta;
    return repaired.length === 0 ? fields : { ...fields, tool_calls: repaired as unknown as NonNullable<Delta['tool_calls']> };
  }

  normalizeFunctionCall(delta: Delta, functionCall: JsonObject): Delta {
    const name = toText(functionCall.name);
    const isFirst = name !== '' && this.#functionName === '';
    if (isFirst && !this.#rules.isAllowed(name)) this.#isFunctionSuppressed = true;
    if (this.#isFunctionSuppressed) {
      const { function_call: _called, ...fields } = delta;
      return fields;
    }
    if (isFirst) {
      this.#functionName = name;
      this.hasFunctionCall = true;
    }
    const isClean = typeof functionCall.arguments === 'string' && (isFirst || functionCall.name === undefined);
    if (isClean) return delta;
    return { ...delta, function_call: { ...(isFirst && { name }), arguments: toArguments(functionCall.arguments) } };
  }

  #normalizePart(part: JsonObject, callsOfDelta: Set<OpenCall>): JsonObject | undefined {
    const call = this.#find(part, callsOfDelta) ?? this.#open(part);
    callsOfDelta.add(call);
    this.#last = call;
    const calledFunction = isJsonObject(part.function) ? part.function : undefined;
    const custom = calledFunction === undefined && isJsonObject(part.custom) ? part.custom : undefined;
    const name = toText((calledFunction ?? custom)?.name);
    if (call.name === '' && name !== '' && !this.#rules.isAllowed(name)) {
      call.isSuppressed = true;
      call.name = name;
    }
    const args = toArguments(calledFunction?.arguments);
    if (args.trim() !== '') call.endsWithBrace = args.trimEnd().endsWith('}');
    if (call.isSuppressed) return undefined;
    if (call.index === -1 && (name !== '' || custom !== undefined)) call.index = this.#announcedCount++;
    if (custom !== undefined) return this.#normalizeCustom(call, part);
    if (call.name !== '') return toContinuation(call, part, args);
    if (call.sourceId === '') call.sourceId = toText(part.id);
    if (name !== '') return announce(call, part, args, { name, id: this.#announceId(call.sourceId) });
    this.#rules.addHeldChars(hold(call, part, args));
    return undefined;
  }

  #announceId(sourceId: string): string {
    this.hasToolCall = true;
    return this.#rules.toUniqueId(sourceId);
  }

  /** Returns a part of a call of a custom tool. Its field `custom` needs no repair. */
  #normalizeCustom(call: OpenCall, part: JsonObject): JsonObject {
    const name = toText((part.custom as JsonObject).name);
    if (call.name === '' && name !== '') {
      call.name = name;
      call.id = this.#announceId(call.sourceId);
      return part.index === call.index && part.id === call.id ? part : { ...part, index: call.index, id: call.id };
    }
    return part.index === call.index ? part : { ...part, index: call.index };
  }

  /** Returns the call that a part continues. Undefined if the part starts a call. */
  #find(part: JsonObject, callsOfDelta: ReadonlySet<OpenCall>): OpenCall | undefined {
    const [index, id] = [toIndex(part.index), toText(part.id)];
    const calledFunction = toObject(part.function);
    const name = toText(calledFunction.name);
    const open = index === undefined ? this.#last : this.#byIndex.get(index);
    const match = id === '' ? open : this.#byId.get(toKey(index, id));
    if (match === undefined) {
      // The ID of a call may arrive after its first part.
      const canGetId = open !== undefined && open.sourceId === '' && !callsOfDelta.has(open) && (open.name === '' || name === '');
      return canGetId ? open : undefined;
    }
    if (name === '' || match.name === '') return match;
    if (callsOfDelta.has(match)) return undefined;
    // Some servers repeat the name and the ID in every part, and some use one ID for several calls. In one JSON object, `{` never
    // follows `}`.
    const startsNewCall = match.endsWithBrace && toArguments(calledFunction.arguments).trimStart().startsWith('{');
    return (id !== '' || index !== undefined) && name === match.name && !startsNewCall ? match : undefined;
  }

  #open(part: JsonObject): OpenCall {
    checkCallCount(this.#openedCount);
    this.#openedCount += 1;
    const [sourceIndex, sourceId] = [toIndex(part.index), toText(part.id)];
    const call: OpenCall = {
      index: -1,
      sourceId,
      id: '',
      name: '',
      endsWithBrace: false,
      isSuppressed: false,
      heldFields: undefined,
      heldArguments: '',
    };
    if (sourceIndex !== undefined) this.#byIndex.set(sourceIndex, call);
    if (sourceId !== '') this.#byId.set(toKey(sourceIndex, sourceId), call);
    return call;
  }
}

/** Holds a part until the name of its call arrives. Returns the number of characters that it adds. */
function hold(call: OpenCall, part: JsonObject, args: string): number {
  const { index: _index, id: _id, type: _type, function: _function, ...fields } = part;
  call.heldFields = Object.assign(call.heldFields ?? Object.create(null), fields);
  call.heldArguments += args;
  return args.length + JSON.stringify(fields).length;
}

/** Returns the first part of a call that a consumer sees. */
function announce(
  call: OpenCall,
  part: JsonObject,
  args: string,
  { name, id }: { readonly name: string; readonly id: string },
): JsonObject {
  const calledFunction = toObject(part.function);
  call.name = name;
  call.id = id;
  const isSame = part.index === call.index && part.id === call.id && part.type === 'function';
  if (isSame && calledFunction.arguments === args && call.heldFields === undefined) return part;
  const { heldFields, heldArguments } = call;
  call.heldFields = undefined;
  call.heldArguments = '';
  return {
    ...heldFields,
    ...part,
    ...{ index: call.index, id: call.id, type: 'function' },
    function: { ...calledFunction, arguments: heldArguments + args },
  };
}

function toContinuation(call: OpenCall, part: JsonObject, args: string): JsonObject {
  const { id, type: _type, function: calledFunction, index, ...fields } = part;
  if (!isJsonObject(calledFunction))
    return index === call.index && (id ?? calledFunction ?? null) === null
      ? part
      : { index: call.index, ...fields, ...((calledFunction ?? null) !== null && { function: { arguments: '' } }) };
  const isSame =
    index === call.index && (id ?? null) === null && (calledFunction.name ?? null) === null && calledFunction.arguments === args;
  if (isSame) return part;
  const { name: _name, ...functionRest } = calledFunction;
  return { index: call.index, ...fields, function: { ...functionRest, arguments: args } };
}

/** Returns the delta without calls that are not objects. Returns the original object if all calls are objects. */
function removeMalformedCalls(delta: Delta): Delta {
  const { tool_calls: parts, function_call: functionCall, ...fields } = delta as Record<string, unknown>;
  const hasParts = (parts ?? null) !== null;
  const list = filterObjects(parts);
  const hasBadParts = hasParts && !(Array.isArray(parts) && list.length === parts.length);
  const hasBadCall = (functionCall ?? null) !== null && !isJsonObject(functionCall);
  if (!hasBadParts && !hasBadCall) return delta;
  return {
    ...fields,
    ...(list.length > 0 && { tool_calls: list }),
    ...(isJsonObject(functionCall) && { function_call: functionCall }),
  } as unknown as Delta;
}

/** Some servers send the arguments as the object itself. */
function toArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function toIndex(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function toKey(index: number | undefined, id: string): string {
  return `${index ?? ''}:${id}`;
}

function removeIndex(call: unknown): unknown {
  if (!isJsonObject(call) || call.index === undefined) return call;
  const { index: _index, ...fields } = call;
  return fields;
}

function isSameCall(call: unknown, repaired: unknown): boolean {
  if (!isJsonObject(call) || !isJsonObject(repaired)) return false;
  const { index: _index, ...fields } = repaired;
  return call.id === fields.id && call.type === fields.type && call.index === undefined && isSameFunction(call, fields);
}

function isSameFunction(call: JsonObject, repaired: JsonObject): boolean {
  const { function: left } = call;
  const { function: right } = repaired;
  if (left === right) return true;
  return isJsonObject(left) && isJsonObject(right) && left.name === right.name && left.arguments === right.arguments;
}
