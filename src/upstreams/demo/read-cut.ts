import type { ChatRequest } from '#contract/chat-request.ts';
import { textOf } from './read-conversation.ts';

/** An answer that was cut short and is to go on. */
interface Cut {
  /** What was asked, up to the question that it answers. */
  readonly messages: ChatRequest['messages'];
  /** As far as it came. */
  readonly said: string;
}

const goesOn = /\bcut (off|short)\b.{0,80}\b(go on|continue)\b/is;

/** What the last message asks to go on with, as the page does; undefined if it asks something else. */
export function readCut({ messages }: ChatRequest): Cut | undefined {
  const [said, last] = messages.slice(-2);
  if (last?.role !== 'user' || said?.role !== 'assistant' || !goesOn.test(textOf(last))) return undefined;
  return { messages: messages.slice(0, -2), said: textOf(said) };
}
