import { isJsonObject, type JsonObject, toText, tryParseJson } from '#base/json/json.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';

/** Text of a user message that is added where a dialect requires one. */
export const openingText = '(The conversation begins.)';
/** Text for the result of a call without one. */
export const noResultText = 'No result was given.';

/** Returns whether a text has only white space, which dialects reject. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** A call in a message of the assistant. */
export interface MessageCall {
  /** The call as the client sent it. */
  readonly source: JsonObject;
  /** Empty if the call has no ID. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** Returns the function calls of a message, in order. */
export function listCalls(message: Message): MessageCall[] {
  return getToolCalls(message).flatMap((source) => {
    const { id, function: calledFunction } = source;
    if (!isJsonObject(calledFunction) || typeof calledFunction.name !== 'string') return [];
    return [{ source, id: toText(id), name: calledFunction.name, input: toInput(calledFunction.arguments) }];
  });
}

/** Arguments that are not a JSON object are sent under the key `arguments`. */
function toInput(input: unknown): JsonObject {
  const value = typeof input === 'string' ? tryParseJson(input) : input;
  if (isJsonObject(value)) return value;
  return (input ?? '') === '' ? {} : { arguments: input };
}

/** A tool call in the conversation for the upstream. */
export interface PendingCall {
  readonly id: string;
  readonly name: string;
}

/** Call IDs of a conversation. Makes each ID unique and valid in the dialect, and finds the name of the call for a result. */
export class PendingCalls {
  readonly #idPattern: RegExp;
  readonly #usedIds = new Set<string>();
  /** Calls of the last reply that wait for a result, by the client's call ID. */
  readonly #openCalls = new Map<string, PendingCall[]>();
  #createdCount = 0;

  constructor(idPattern: RegExp) {
    this.#idPattern = idPattern;
  }

  /** Records a call, which then waits for a result. */
  register(sourceId: string, name: string): PendingCall {
    const pendingCall = { id: this.#toId(sourceId), name };
    const waitingCalls = this.#openCalls.get(sourceId);
    if (waitingCalls === undefined) this.#openCalls.set(sourceId, [pendingCall]);
    else waitingCalls.push(pendingCall);
    return pendingCall;
  }

  /** Returns the call that a result belongs to, or undefined if no such call is waiting. */
  answer(sourceId: string): PendingCall | undefined {
    const waitingCalls = this.#openCalls.get(sourceId);
    const pendingCall = waitingCalls?.shift();
    if (waitingCalls?.length === 0) this.#openCalls.delete(sourceId);
    return pendingCall;
  }

  /** Returns the calls without a result, in order, and stops waiting for them. */
  abandon(): PendingCall[] {
    const openCalls = [...this.#openCalls.values()].flat();
    this.#openCalls.clear();
    return openCalls;
  }

  #toId(sourceId: string): string {
    let id = sourceId;
    for (; !this.#idPattern.test(id) || this.#usedIds.has(id); this.#createdCount += 1)
      id = String(this.#createdCount).padStart(9, '0');
    this.#usedIds.add(id);
    return id;
  }
}
