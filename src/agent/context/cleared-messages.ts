import { hash } from 'node:crypto';
import { isJsonObject } from '#base/json/json.ts';
import { isInstruction, isResult, type Message, toolCallsOf } from '#contract/chat/message.ts';
import { isMediaMessage } from '../shown-media.ts';

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

export const nothingCleared: Pick<ContextMemory, 'cleared' | 'summary'> = { cleared: 0 };

/** Says in a line what was there and how to get it again: to be given the result and the name of its tool. */
export type ToClearedLine = (content: string, tool: string) => string;

const openingOfSummary = 'Summary of the earlier conversation, which was too long to be sent whole:';

/** The places where something begins that stands by itself: calls, their results and what these showed belong together. */
export function groupStarts(said: readonly Message[]): number[] {
  return said.flatMap((message, place) => (place === 0 || !(isResult(message) || isMediaMessage(message)) ? [place] : []));
}

export function digestOf(said: readonly Message[], end: number): string {
  return hash('sha256', JSON.stringify(said.slice(0, end)), 'base64url').slice(0, 22);
}

/** Draws conversations as their model is sent them. The same message gives the same one, not a copy of it, each time. */
export class ClearedMessages {
  readonly #toLine: ToClearedLine;
  readonly #cleared = new WeakMap<Message, Message>();
  #summary: { readonly text: string; readonly message: Message } | undefined;

  constructor(toLine: ToClearedLine) {
    this.#toLine = toLine;
  }

  draw(messages: readonly Message[], { cleared, summary }: Pick<ContextMemory, 'cleared' | 'summary'>): Message[] {
    const drawn: Message[] = [];
    let place = 0;
    let kept: Message | undefined;
    const tools = new Map<string, string>();
    for (const message of messages) {
      if (isInstruction(message)) {
        drawn.push(message);
        continue;
      }
      noteCalls(message, tools);
      const at = place++;
      if (summary !== undefined && at < summary.before) {
        if (at === summary.kept) kept = message;
        if (at + 1 === summary.before) drawn.push(this.#summaryOf(summary.text), ...(kept === undefined ? [] : [kept]));
      } else drawn.push(at < cleared ? this.clear(message, tools) : message);
    }
    return drawn;
  }

  /** The message without what a tool gave; itself if there is nothing to clear, or less than the line that would stand for it. */
  clear(message: Message, tools: ReadonlyMap<string, string>): Message {
    const before = this.#cleared.get(message);
    if (before !== undefined) return before;
    const cleared = this.#toCleared(message, tools);
    this.#cleared.set(message, cleared);
    return cleared;
  }

  #toCleared(message: Message, tools: ReadonlyMap<string, string>): Message {
    if (isMediaMessage(message))
      return { role: 'user', content: '[What tools showed here was cleared to make room; call them again to see it.]' };
    if (!isResult(message) || typeof message.content !== 'string') return message;
    const tool = tools.get(String(message.tool_call_id ?? '')) ?? message.name ?? 'a tool';
    const line = this.#toLine(message.content, tool);
    return line.length < message.content.length ? { ...message, content: line } : message;
  }

  #summaryOf(text: string): Message {
    if (this.#summary?.text !== text)
      this.#summary = { text, message: { role: 'user', content: `[${openingOfSummary}]\n\n${text}` } };
    return this.#summary.message;
  }
}

/** Names of tools by the ids of their calls. */
export function noteCalls(message: Message, tools: Map<string, string>): void {
  for (const { id, function: called } of toolCallsOf(message))
    if (isJsonObject(called)) tools.set(String(id), String(called.name));
}
