import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Said } from '../chat/said.ts';
import type { Asking } from './asking.ts';
import { hasEndedWell, type Reply, shownTurns } from './conversation.ts';
import type { Library } from './library.ts';

/** What was sent while an answer came. */
export interface Waiting extends Said {
  readonly id: string;
  /** It is not sent by itself: the answer before it did not end well, or the page was loaded anew. */
  readonly isHeld: boolean;
}

/** Where it is kept beyond this tab's life, by conversation. */
export interface KeptOutbox {
  read(conversationId: string): string;
  write(conversationId: string, text: string): void;
  /** Calls back with each conversation of which another tab changed it. */
  onChange(act: (conversationId: string) => void): void;
}

interface OutboxParts {
  readonly library: Library;
  readonly asking: Asking;
  readonly kept?: KeptOutbox;
}

const none: readonly Waiting[] = [];

/** Messages that wait for an answer to end: each goes when the one before it has ended well. */
export class Outbox {
  readonly #parts: Omit<OutboxParts, 'kept'>;
  readonly #waiting = new Map<string, readonly Waiting[]>();
  /** Ids of those that go as soon as the answer that is being stopped has ended. */
  readonly #urgent = new Set<string>();
  readonly #views = new Set<() => void>();
  #kept: KeptOutbox | undefined;

  constructor({ kept, ...parts }: OutboxParts) {
    this.#parts = parts;
    this.#kept = kept;
    parts.asking.hear((conversationId, reply) => this.#goOn(conversationId, reply));
    kept?.onChange((conversationId) => {
      const held = new Map(this.waiting(conversationId).map(({ id, isHeld }) => [id, isHeld]));
      const now = toWaiting(kept.read(conversationId));
      this.#waiting.set(
        conversationId,
        now.map((each) => ({ ...each, isHeld: held.get(each.id) ?? true })),
      );
      for (const view of this.#views) view();
    });
  }

  readonly subscribe = (view: () => void): (() => void) => {
    this.#views.add(view);
    return () => this.#views.delete(view);
  };

  /** What waits in a conversation, the next first. */
  waiting(conversationId: string): readonly Waiting[] {
    const here = this.#waiting.get(conversationId);
    if (here !== undefined) return here;
    const kept = toWaiting(this.#kept?.read(conversationId) ?? '');
    this.#waiting.set(conversationId, kept);
    return kept;
  }

  add(conversationId: string, said: Said): void {
    const id = crypto.randomUUID();
    this.#set(conversationId, [...this.waiting(conversationId), { ...said, id, isHeld: false }]);
    // The answer may have ended since the page was drawn.
    if (!this.#parts.asking.isAnswering(conversationId)) this.#send(conversationId, id);
  }

  /** Takes one back. */
  take(conversationId: string, id: string): void {
    this.#set(
      conversationId,
      this.waiting(conversationId).filter((each) => each.id !== id),
    );
  }

  /** Sends one now; an answer that is coming is stopped for it. */
  sendNow(conversationId: string, id: string): void {
    const { asking } = this.#parts;
    if (!asking.isAnswering(conversationId)) return this.#send(conversationId, id);
    this.#urgent.add(id);
    asking.stopIn(conversationId);
  }

  /** Nothing is kept any more. */
  close(): void {
    this.#kept = undefined;
  }

  #goOn(conversationId: string, reply: Reply): void {
    const waiting = this.waiting(conversationId);
    if (waiting.length === 0 || this.#parts.asking.isAnswering(conversationId)) return;
    const urgent = waiting.find(({ id }) => this.#urgent.has(id));
    const next = urgent ?? (hasEndedWell(reply) ? waiting.find(({ isHeld }) => !isHeld) : undefined);
    if (next !== undefined) return this.#send(conversationId, next.id);
    this.#set(
      conversationId,
      waiting.map((each) => ({ ...each, isHeld: true })),
    );
  }

  #send(conversationId: string, id: string): void {
    const { library, asking } = this.#parts;
    const waiting = this.waiting(conversationId).find((each) => each.id === id);
    const conversation = library.find(conversationId);
    this.#urgent.delete(id);
    this.take(conversationId, id);
    if (waiting === undefined || conversation === undefined) return;
    const { id: _, isHeld, ...said } = waiting;
    void asking.ask(conversationId, { parent: shownTurns(conversation).at(-1)?.id ?? '', ...said });
  }

  #set(conversationId: string, waiting: readonly Waiting[]): void {
    this.#waiting.set(conversationId, waiting.length === 0 ? none : waiting);
    this.#kept?.write(conversationId, waiting.length === 0 ? '' : JSON.stringify(waiting));
    for (const view of this.#views) view();
  }
}

function toWaiting(text: string): readonly Waiting[] {
  const kept = text === '' ? [] : tryParseJson(text);
  if (!Array.isArray(kept)) return none;
  const whole = kept.filter((each) => isJsonObject(each) && typeof each.text === 'string' && Array.isArray(each.attachments));
  return whole.map((each) => ({ ...(each as unknown as Waiting), isHeld: true }));
}
