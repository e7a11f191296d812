import type { Tokens } from '#base/text-tokens.ts';
import type { ChatRequest } from '#contract/chat-request.ts';
import { textOf } from './read-conversation.ts';

/** What OpenAI's models add for each message, and for the reply to come. */
const perMessage = 3;
const perReply = 3;

/** Tokens of a request: its messages, the calls and text attachments in them, and the tools offered. */
export function countPrompt(request: ChatRequest, tokens: Tokens): number {
  const texts = request.messages.flatMap((message) => [
    message.role,
    textOf(message),
    message.name ?? '',
    toText(message.tool_calls ?? message.function_call),
    toText(message.custom_content?.completed_control),
    ...(message.custom_content?.attachments ?? []).map(({ data }) => data ?? ''),
  ]);
  const joined = [...texts, toText(request.tools ?? request.functions)].filter((text) => text !== '').join('\n');
  return tokens.count(joined) + request.messages.length * perMessage + perReply;
}

function toText(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
