import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';

/** Stands where a dialect wants a message of the user and there is none. */
export const openingText = '(The conversation begins.)';
/** Stands for the result of a call that got none. */
export const noResultText = 'No result was given.';

/** A call that a message of the assistant holds. */
export interface MessageCall {
  /** As the caller sent it. */
  readonly source: JsonObject;
  /** Empty if it has none. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** The calls of a message, in their order, but for those that are no calls of a function. */
export function listCalls(message: Message): MessageCall[] {
  return getToolCalls(message).flatMap((source) => {
    const { id, function: calledFunction } = source;
    if (!isJsonObject(calledFunction) || typeof calledFunction.name !== 'string') return [];
    return [
      { source, id: typeof id === 'string' ? id : '', name: calledFunction.name, input: toInput(calledFunction.arguments) },
    ];
  });
}

/** Arguments that are no JSON object are sent under a name of their own. */
function toInput(input: unknown): JsonObject {
  const value = typeof input === 'string' ? tryParseJson(input) : input;
  if (isJsonObject(value)) return value;
  return (input ?? '') === '' ? {} : { arguments: input };
}

/** A call of a tool, as it stands in the conversation that is sent. */
export interface PendingCall {
  readonly id: string;
  readonly name: string;
}

/** The calls of a conversation: ids in the form of the dialect, each once, and the names that results do not have. */
export class PendingCalls {
  readonly #idPattern: RegExp;
  readonly #used = new Set<string>();
  /** By the caller's id: the calls of the last reply that wait for a result. */
  readonly #open = new Map<string, PendingCall[]>();
  #createdCount = 0;

  constructor(idPattern: RegExp) {
    this.#idPattern = idPattern;
  }

  /** Takes note of a call, which waits for a result from now on. */
  register(sourceId: string, name: string): PendingCall {
    const pendingCall = { id: this.#toId(sourceId), name };
    const waitingCalls = this.#open.get(sourceId);
    if (waitingCalls === undefined) this.#open.set(sourceId, [pendingCall]);
    else waitingCalls.push(pendingCall);
    return pendingCall;
  }

  /** The call that a result is for; undefined if none waits for it. */
  answer(sourceId: string): PendingCall | undefined {
    const waitingCalls = this.#open.get(sourceId);
    const pendingCall = waitingCalls?.shift();
    if (waitingCalls?.length === 0) this.#open.delete(sourceId);
    return pendingCall;
  }

  /** The calls that got no result, in the order asked; none waits any more. */
  abandon(): PendingCall[] {
    const openCalls = [...this.#open.values()].flat();
    this.#open.clear();
    return openCalls;
  }

  #toId(sourceId: string): string {
    let id = sourceId;
    for (; !this.#idPattern.test(id) || this.#used.has(id); this.#createdCount += 1)
      id = String(this.#createdCount).padStart(9, '0');
    this.#used.add(id);
    return id;
  }
}
