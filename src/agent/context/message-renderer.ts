import { hash } from 'node:crypto';
import { isJsonObject } from '#base/json/json.ts';
import { getToolCalls, isInstruction, isResult, type Message } from '#contract/chat/message.ts';
import { isMediaMessage } from '../tool-media.ts';

/** What of a conversation its model is not sent any more. Places are those of messages without instructions, from 0. */
export interface ContextMemory {
  /** Results ahead of this place are cleared. */
  readonly cleared: number;
  /** What stands for the messages ahead of a place; absent: all are sent. */
  readonly summary?: Summary;
  /** Of the messages that this is about: it is good for no others. */
  readonly digest: string;
}

export interface Summary {
  /** The place of the first message that it does not stand for. */
  readonly before: number;
  readonly text: string;
  /** The place of a message among them that is sent as it is: the user's last one. */
  readonly kept?: number;
}

export const emptyMemory: Pick<ContextMemory, 'cleared' | 'summary'> = { cleared: 0 };

/** Says in a line what was there and how to get it again: to be given the result and the name of its tool. */
export type FormatPlaceholder = (content: string, tool: string) => string;

const summaryOpening = 'Summary of the earlier conversation, which was too long to be sent whole:';

/** The places where something begins that stands by itself: calls, their results and what these showed belong together. */
export function listGroupStarts(messages: readonly Message[]): number[] {
  return messages.flatMap((message, index) => (index === 0 || !(isResult(message) || isMediaMessage(message)) ? [index] : []));
}

export function computeDigest(messages: readonly Message[], end: number): string {
  return hash('sha256', JSON.stringify(messages.slice(0, end)), 'base64url').slice(0, 22);
}

/** Draws conversations as their model is sent them. The same message gives the same one, not a copy of it, each time. */
export class MessageRenderer {
  readonly #formatPlaceholder: FormatPlaceholder;
  readonly #cleared = new WeakMap<Message, Message>();
  #summary: { readonly text: string; readonly message: Message } | undefined;

  constructor(formatPlaceholder: FormatPlaceholder) {
    this.#formatPlaceholder = formatPlaceholder;
  }

  render(messages: readonly Message[], { cleared, summary }: Pick<ContextMemory, 'cleared' | 'summary'>): Message[] {
    const rendered: Message[] = [];
    let nextIndex = 0;
    let keptMessage: Message | undefined;
    const tools = new Map<string, string>();
    for (const message of messages) {
      if (isInstruction(message)) {
        rendered.push(message);
        continue;
      }
      recordToolNames(message, tools);
      const index = nextIndex++;
      if (summary !== undefined && index < summary.before) {
        if (index === summary.kept) keptMessage = message;
        if (index + 1 === summary.before)
          rendered.push(this.#toSummaryMessage(summary.text), ...(keptMessage === undefined ? [] : [keptMessage]));
      } else rendered.push(index < cleared ? this.clear(message, tools) : message);
    }
    return rendered;
  }

  /** The message without what a tool gave; itself if there is nothing to clear, or less than the line that would stand for it. */
  clear(message: Message, tools: ReadonlyMap<string, string>): Message {
    const cached = this.#cleared.get(message);
    if (cached !== undefined) return cached;
    const cleared = this.#toCleared(message, tools);
    this.#cleared.set(message, cleared);
    return cleared;
  }

  #toCleared(message: Message, tools: ReadonlyMap<string, string>): Message {
    if (isMediaMessage(message))
      return { role: 'user', content: '[What tools showed here was cleared to make room; call them again to see it.]' };
    if (!isResult(message) || typeof message.content !== 'string') return message;
    const tool = tools.get(String(message.tool_call_id ?? '')) ?? message.name ?? 'a tool';
    const placeholder = this.#formatPlaceholder(message.content, tool);
    return placeholder.length < message.content.length ? { ...message, content: placeholder } : message;
  }

  #toSummaryMessage(text: string): Message {
    if (this.#summary?.text !== text)
      this.#summary = { text, message: { role: 'user', content: `[${summaryOpening}]\n\n${text}` } };
    return this.#summary.message;
  }
}

/** Names of tools by the ids of their calls. */
export function recordToolNames(message: Message, tools: Map<string, string>): void {
  for (const { id, function: calledFunction } of getToolCalls(message))
    if (isJsonObject(calledFunction)) tools.set(String(id), String(calledFunction.name));
}
