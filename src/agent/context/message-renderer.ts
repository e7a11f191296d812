import { hash } from 'node:crypto';
import { isJsonObject } from '#base/json/json.ts';
import { getToolCalls, isInstruction, isResult, type Message } from '#contract/chat/message.ts';
import { isMediaMessage } from '../tool-media.ts';

/** The parts of a conversation that are no longer sent to its model. Indexes start at 0 and ignore instructions. */
export interface Reduction {
  /** Index before which tool results are cleared. */
  readonly cleared: number;
  /** Replacement for the oldest messages. If absent, all messages are sent. */
  readonly summary?: Summary;
}

/** The reduction of a conversation that the next run continues with. */
export interface ContextMemory extends Reduction {
  /** Digest of the reduced messages. The memory is valid only for these messages. */
  readonly digest: string;
}

/** A summary that replaces the oldest messages of a conversation. */
export interface Summary {
  /** Index of the first message that the summary does not replace. */
  readonly before: number;
  readonly text: string;
  /** Index of a replaced message that is still sent: the user's last one. */
  readonly kept?: number;
}

/** Returns one line that replaces a cleared result and explains how to read it again. */
export type FormatPlaceholder = (content: string, tool: string) => string;

const summaryOpening = 'Summary of the earlier conversation, which was too long to be sent whole:';

/** Returns the start index of each group of messages. A call, its results, and their media form one group. */
export function listGroupStarts(messages: readonly Message[]): number[] {
  return messages.flatMap((message, index) => (index === 0 || !(isResult(message) || isMediaMessage(message)) ? [index] : []));
}

export function computeDigest(messages: readonly Message[], end: number): string {
  return hash('sha256', JSON.stringify(messages.slice(0, end)), 'base64url').slice(0, 22);
}

/** Applies reductions to conversations. Each message yields the same object every time, so that it can be compared by identity. */
export class MessageRenderer {
  readonly #formatPlaceholder: FormatPlaceholder;
  readonly #cleared = new WeakMap<Message, Message>();
  #summary: { readonly text: string; readonly message: Message } | undefined;

  constructor(formatPlaceholder: FormatPlaceholder) {
    this.#formatPlaceholder = formatPlaceholder;
  }

  render(messages: readonly Message[], { cleared, summary }: Reduction): Message[] {
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

  /** Returns the message without its tool result. Returns the message itself if clearing would not make it shorter. */
  clear(message: Message, tools: ReadonlyMap<string, string>): Message {
    const cached = this.#cleared.get(message);
    if (cached !== undefined) return cached;
    const cleared = this.#toCleared(message, tools);
    this.#cleared.set(message, cleared);
    return cleared;
  }

  #toCleared(message: Message, tools: ReadonlyMap<string, string>): Message {
    if (isMediaMessage(message))
      return { role: 'user', content: '[Pictures and files of tools were removed. Call the tools again to see them.]' };
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

/** Records the names of called tools by call ID. */
export function recordToolNames(message: Message, tools: Map<string, string>): void {
  for (const { id, function: calledFunction } of getToolCalls(message))
    if (isJsonObject(calledFunction)) tools.set(String(id), String(calledFunction.name));
}
