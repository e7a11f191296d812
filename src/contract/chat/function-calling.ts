import type { ChatRequest } from './chat-request.ts';
import { isResultName, type Message } from './message.ts';

/** Whether a request speaks of functions in the old form, in its fields or in its messages. */
export function usesFunctions(request: ChatRequest): boolean {
  if (request.functions !== undefined || request.function_call !== undefined) return true;
  for (const { role, function_call: call } of request.messages) if (role === 'function' || call !== undefined) return true;
  return false;
}

/**
 * Returns the request in the form of tools: `functions` become tools, function calls become tool calls with created ids, and
 * their results become tool messages. Returns the same object if nothing is of the old form.
 */
export function toToolsRequest(request: ChatRequest): ChatRequest {
  if (!usesFunctions(request)) return request;
  const { functions, function_call: choice, ...rest } = request;
  const offers = functions?.map((offer) => ({ type: 'function', function: offer })) ?? [];
  return {
    ...rest,
    messages: toToolMessages(request.messages),
    ...(offers.length > 0 && { tools: offers }),
    ...(offers.length > 0 && choice !== undefined && { tool_choice: toToolChoice(choice) }),
  };
}

function toToolChoice(choice: 'none' | 'auto' | { name: string }): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

/**
 * Converts the messages to the form of tools. A result is moved directly after its call. A call without a result is left out,
 * and a result without a call becomes a user message, since tools need both.
 */
function toToolMessages(messages: readonly Message[]): Message[] {
  const results = findResults(messages);
  const answered = new Set(results.values());
  let calls = 0;
  return messages.flatMap((message): Message[] => {
    const { function_call: call, ...rest } = message;
    if (message.role === 'function') return answered.has(message) ? [] : [{ ...rest, role: 'user', content: rest.content ?? '' }];
    if (call === undefined) return [message];
    if (rest.tool_calls !== undefined) return [rest];
    const content = rest.content ?? null;
    const result = results.get(message);
    if (result === undefined) return content === null || content === '' ? [] : [{ ...rest, content }];
    const id = `call_${calls}`;
    calls += 1;
    return [
      { ...rest, content, tool_calls: [{ id, type: 'function', function: { name: call.name, arguments: call.arguments } }] },
      { role: 'tool', tool_call_id: id, content: result.content ?? '' },
    ];
  });
}

/** Returns the result of each message with a function call. The newest call is the one that a result answers. */
function findResults(messages: readonly Message[]): Map<Message, Message> {
  const results = new Map<Message, Message>();
  let open: Message | undefined;
  for (const message of messages) {
    if (message.function_call !== undefined && message.tool_calls === undefined) open = message;
    if (message.role !== 'function' || open?.function_call === undefined) continue;
    if (!isResultName(message.name, open.function_call.name)) continue;
    results.set(open, message);
    open = undefined;
  }
  return results;
}
