import { hash } from 'node:crypto';
import type { ChatRequest } from './chat-request.ts';
import type { Chunk, ChunkChoice, FunctionCallDelta, ToolCallDelta } from './chunk.ts';
import { isResultName, type Message } from './message.ts';

const functionCallPrefix = 'fcall_';

/** Maximum number of characters of a function name. */
export const maxFunctionNameChars = 64;
const hashChars = 8;

/** Returns a function name of at most 64 characters that ends with a hash of `key`, so that names with different keys differ. */
export function toHashedName(name: string, key: string): string {
  return `${name.slice(0, maxFunctionNameChars - hashChars - 1)}_${hash('sha256', key, 'hex').slice(0, hashChars)}`;
}

/** Returns whether the fields or messages of a request use function calling, the predecessor of tool calling. */
export function usesFunctions(request: ChatRequest): boolean {
  if (request.functions !== undefined || request.function_call !== undefined) return true;
  for (const { role, function_call: call } of request.messages) if (role === 'function' || call !== undefined) return true;
  return false;
}

/**
 * Converts a request from functions to tools. `functions` become tools, function calls become tool calls with generated IDs, and
 * their results become tool messages. Returns the same object if the request does not use functions.
 */
export function toToolsRequest(request: ChatRequest): ChatRequest {
  if (!usesFunctions(request)) return request;
  const { functions, function_call: choice, ...fields } = request;
  const offers = functions?.map((offer) => ({ type: 'function', function: offer })) ?? [];
  return {
    ...fields,
    messages: toToolMessages(request.messages),
    ...(offers.length > 0 && { tools: offers }),
    ...(offers.length > 0 && choice !== undefined && { tool_choice: toToolChoice(choice) }),
  };
}

function toToolChoice(choice: 'none' | 'auto' | { name: string }): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

/**
 * Converts messages from functions to tools. Moves a result directly after its call. Drops a call without a result, and converts
 * a result without a call to a user message, because tools require both.
 */
function toToolMessages(messages: readonly Message[]): Message[] {
  const results = findResults(messages);
  const matchedResults = new Set(results.values());
  let calls = 0;
  return messages.flatMap((message): Message[] => {
    const { function_call: call, ...fields } = message;
    if (message.role === 'function')
      return matchedResults.has(message) ? [] : [{ ...fields, role: 'user', content: fields.content ?? '' }];
    if (call === undefined) return [message];
    if (fields.tool_calls !== undefined) return [fields];
    const content = fields.content ?? null;
    const result = results.get(message);
    if (result === undefined) return content === null || content === '' ? [] : [{ ...fields, content }];
    const id = `call_${calls}`;
    calls += 1;
    return [
      { ...fields, content, tool_calls: [{ id, type: 'function', function: { name: call.name, arguments: call.arguments } }] },
      { role: 'tool', tool_call_id: id, content: result.content ?? '' },
    ];
  });
}

/** Returns the result of each message with a function call. A result answers the latest call before it. */
function findResults(messages: readonly Message[]): Map<Message, Message> {
  const results = new Map<Message, Message>();
  let openCall: Message | undefined;
  for (const message of messages) {
    if (message.function_call !== undefined && message.tool_calls === undefined) openCall = message;
    if (message.role !== 'function' || openCall?.function_call === undefined) continue;
    if (!isResultName(message.name, openCall.function_call.name)) continue;
    results.set(openCall, message);
    openCall = undefined;
  }
  return results;
}

/** Converts the tool calls of one normalized reply to function calls. The first call of each choice becomes its function call. */
export class FunctionCallReply {
  /** Index of the tool call that becomes the function call, by choice. */
  readonly #calls = new Map<number, number>();

  /**
   * Returns the chunk with `function_call` instead of `tool_calls`, or the same object if it has none. Must be called
   * with all chunks of a reply, in order.
   */
  toFunctionCall(chunk: Chunk): Chunk {
    if (!chunk.choices.some(hasToolForm)) return chunk;
    return { ...chunk, choices: chunk.choices.map((choice) => (hasToolForm(choice) ? this.#toOldForm(choice) : choice)) };
  }

  #toOldForm({ delta, finish_reason: reason, ...choice }: ChunkChoice): ChunkChoice {
    const { tool_calls: calls, ...fields } = delta;
    const call = this.#toCall(choice.index, calls ?? []);
    return {
      ...choice,
      delta: call === undefined ? fields : { ...fields, function_call: call },
      finish_reason: reason === 'tool_calls' ? 'function_call' : reason,
    };
  }

  #toCall(choice: number, calls: readonly ToolCallDelta[]): FunctionCallDelta | undefined {
    if (calls.length === 0) return undefined;
    const callIndex = this.#calls.get(choice) ?? Math.min(...calls.map(({ index }) => index));
    this.#calls.set(choice, callIndex);
    return mergeParts(calls.flatMap(({ index, function: part }) => (index === callIndex && part !== undefined ? [part] : [])));
  }
}

/** Merges all parts of one call in a chunk. */
function mergeParts(parts: readonly FunctionCallDelta[]): FunctionCallDelta | undefined {
  if (parts.length < 2) return parts[0];
  return { ...parts[0], arguments: parts.map((part) => part.arguments ?? '').join('') };
}

function hasToolForm({ delta, finish_reason: reason }: ChunkChoice): boolean {
  return (delta.tool_calls ?? null) !== null || reason === 'tool_calls';
}

/**
 * Returns the ID of a call that arrived as `function_call`, which has no ID. The client sends its result in a `function`
 * message. `reply` must be unique to the reply.
 */
export function toFunctionCallId(reply: string): string {
  return `${functionCallPrefix}${reply}`;
}

export function isFunctionCallId(id: string): boolean {
  return id.startsWith(functionCallPrefix);
}
