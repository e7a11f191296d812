import type { ChatRequest } from './chat-request.ts';
import type { Message } from './message.ts';

/** Whether a request speaks of functions in the old form, in its fields or in its messages. */
export function usesFunctions(request: ChatRequest): boolean {
  if (request.functions !== undefined || request.function_call !== undefined) return true;
  for (const { role, function_call: call } of request.messages) if (role === 'function' || call !== undefined) return true;
  return false;
}

/**
 * The request in the form of tools: `functions` are tools, calls of functions are tool calls with made-up ids and
 * their results tool messages. Every call gets a result and every result a call, as tools want it. The same object if
 * nothing is of the old form.
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

interface OpenCall {
  readonly id: string;
  readonly name: string;
}

function toToolMessages(messages: readonly Message[]): Message[] {
  const made: Message[] = [];
  let open: OpenCall | undefined;
  let calls = 0;
  const call = (message: Message, name: string, args: string): void => {
    open = { id: `call_${calls}`, name };
    calls += 1;
    made.push({ ...message, tool_calls: [{ id: open.id, type: 'function', function: { name, arguments: args } }] });
  };
  const answer = (content: NonNullable<Message['content']>): void => {
    if (open !== undefined) made.push({ role: 'tool', tool_call_id: open.id, content });
    open = undefined;
  };
  for (const message of messages) {
    const { function_call: asked, name = '', ...rest } = message;
    if (open !== undefined && !(message.role === 'function' && name === open.name)) answer('No result was given.');
    if (message.role === 'function') {
      if (open === undefined) call({ role: 'assistant', content: null }, name, '{}');
      answer(message.content ?? '');
    } else if (asked !== undefined && rest.tool_calls === undefined) {
      call({ ...rest, content: rest.content ?? null }, asked.name, asked.arguments);
    } else {
      made.push(asked === undefined ? message : rest);
    }
  }
  answer('No result was given.');
  return made;
}
