import { isJsonObject, type JsonObject } from '#base/json.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Requires that a whole reply has choices with messages that say something in their own form. Throws UpstreamFault. */
export function requireMessages({ choices }: JsonObject): void {
  if (!Array.isArray(choices) || !choices.every(isJsonObject)) throw noCompletion('that is no chat completion');
  for (const { message, finish_reason: reason } of choices as readonly Fields[]) {
    // What a filter took out may be missing.
    if (isJsonObject(message)) requireSaid(message);
    else if (message !== undefined || reason !== 'content_filter') throw noCompletion('with a choice that has no message');
  }
}

/** The same of an event: what is missing comes with another. */
export function requireDeltas({ choices }: JsonObject): void {
  if ((choices ?? null) !== null && !Array.isArray(choices)) throw noCompletion('whose choices are no list');
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isJsonObject(choice) || choice.delta === undefined || choice.delta === null) continue;
    if (!isJsonObject(choice.delta)) throw noCompletion('with a choice whose delta is no object');
    requireSaid(choice.delta);
  }
}

function requireSaid({ content, tool_calls: calls, function_call: called }: Fields): void {
  const isText = typeof content === 'string' || (content ?? null) === null;
  if (!isText && !(Array.isArray(content) && content.every(isJsonObject))) throw noCompletion('whose content is no text');
  if ((calls ?? null) !== null && !(Array.isArray(calls) && calls.every(isCall))) throw noCompletion('whose tool calls are none');
  if ((called ?? null) !== null && !isJsonObject(called)) throw noCompletion('whose function call is none');
}

function isCall(call: unknown): boolean {
  return isJsonObject(call) && ((call.function ?? null) === null || isJsonObject(call.function));
}

function noCompletion(what: string): UpstreamFault {
  return new UpstreamFault('broken', `The upstream answered with JSON ${what}.`);
}
