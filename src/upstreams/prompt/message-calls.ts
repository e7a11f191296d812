import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { type Message, toolCallsOf } from '#contract/chat/message.ts';

/** Stands where a dialect wants a message of the user and there is none. */
export const opening = '(The conversation begins.)';
/** Stands for the result of a call that got none. */
export const noResult = 'No result was given.';

/** A call that a message of the assistant holds. */
export interface CallInMessage {
  /** As the caller sent it. */
  readonly given: JsonObject;
  /** Empty if it has none. */
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** The calls of a message, in their order, but for those that are no calls of a function. */
export function callsOf(message: Message): CallInMessage[] {
  return toolCallsOf(message).flatMap((given) => {
    const { id, function: called } = given;
    if (!isJsonObject(called) || typeof called.name !== 'string') return [];
    return [{ given, id: typeof id === 'string' ? id : '', name: called.name, input: toInput(called.arguments) }];
  });
}

/** Arguments that are no JSON object are sent under a name of their own. */
function toInput(given: unknown): JsonObject {
  const value = typeof given === 'string' ? tryParseJson(given) : given;
  if (isJsonObject(value)) return value;
  return (given ?? '') === '' ? {} : { arguments: given };
}

/** A call of a tool, as it stands in the conversation that is sent. */
export interface PendingCall {
  readonly id: string;
  readonly name: string;
}

/** The calls of a conversation: ids in the form of the dialect, each once, and the names that results do not have. */
export class PendingCalls {
  readonly #form: RegExp;
  readonly #used = new Set<string>();
  /** By the caller's id: the calls of the last reply that wait for a result. */
  readonly #open = new Map<string, PendingCall[]>();
  #made = 0;

  constructor(form: RegExp) {
    this.#form = form;
  }

  /** Takes note of a call, which waits for a result from now on. */
  ask(given: string, name: string): PendingCall {
    const called = { id: this.#toId(given), name };
    const waiting = this.#open.get(given);
    if (waiting === undefined) this.#open.set(given, [called]);
    else waiting.push(called);
    return called;
  }

  /** The call that a result is for; undefined if none waits for it. */
  answer(given: string): PendingCall | undefined {
    const waiting = this.#open.get(given);
    const called = waiting?.shift();
    if (waiting?.length === 0) this.#open.delete(given);
    return called;
  }

  /** The calls that got no result, in the order asked; none waits any more. */
  giveUp(): PendingCall[] {
    const left = [...this.#open.values()].flat();
    this.#open.clear();
    return left;
  }

  #toId(given: string): string {
    let id = given;
    for (; !this.#form.test(id) || this.#used.has(id); this.#made += 1) id = String(this.#made).padStart(9, '0');
    this.#used.add(id);
    return id;
  }
}
