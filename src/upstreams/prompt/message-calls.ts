import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { type Message, toolCallsOf } from '#contract/chat/message.ts';

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
