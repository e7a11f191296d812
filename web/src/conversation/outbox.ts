import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import { isCompleteAnswer, listVisibleTurns, type Reply, type UserMessage } from './conversation.ts';
import type { Library } from './library.ts';
import type { ReplyRunner } from './reply-runner.ts';

/** A message that was sent while an answer was in progress. */
export interface QueuedMessage extends UserMessage {
  readonly id: string;
  /** Whether the message is not sent automatically, because the previous answer is not complete or the page was reloaded. */
  readonly isHeld: boolean;
}

/** Persistent storage of the queue, by chat. */
export interface OutboxStorage {
  readQueue(conversationId: string): string;
  write(conversationId: string, text: string): void;
  /** Calls the listener with the ID of each chat whose queue another tab changed. */
  onChange(act: (conversationId: string) => void): void;
}

interface OutboxOptions {
  readonly library: Library;
  readonly replyRunner: ReplyRunner;
  readonly storage?: OutboxStorage;
}

const noMessages: readonly QueuedMessage[] = [];

/** Messages that wait for the current answer to end. The next one is sent if that answer is complete (`isCompleteAnswer`). */
export class Outbox {
  readonly #options: Omit<OutboxOptions, 'storage'>;
  /** By ID of the chat. */
  readonly #queues = new Map<string, readonly QueuedMessage[]>();
  /** IDs of messages that are sent as soon as the answer being stopped has ended. */
  readonly #urgent = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #storage: OutboxStorage | undefined;

  constructor({ storage, ...options }: OutboxOptions) {
    this.#options = options;
    this.#storage = storage;
    options.replyRunner.subscribe((conversationId, reply) => this.#sendNext(conversationId, reply));
    storage?.onChange((conversationId) => {
      const heldById = new Map(this.getMessages(conversationId).map(({ id, isHeld }) => [id, isHeld]));
      const storedMessages = parseMessages(storage.readQueue(conversationId));
      this.#queues.set(
        conversationId,
        storedMessages.map((message) => ({ ...message, isHeld: heldById.get(message.id) ?? true })),
      );
      for (const listener of this.#listeners) listener();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Returns the queued messages of a chat, the next one first. */
  getMessages(conversationId: string): readonly QueuedMessage[] {
    const loadedMessages = this.#queues.get(conversationId);
    if (loadedMessages !== undefined) return loadedMessages;
    const storedMessages = parseMessages(this.#storage?.readQueue(conversationId) ?? '');
    this.#queues.set(conversationId, storedMessages);
    return storedMessages;
  }

  add(conversationId: string, message: UserMessage): void {
    const id = crypto.randomUUID();
    this.#set(conversationId, [...this.getMessages(conversationId), { ...message, id, isHeld: false }]);
    // The answer may have ended since the page was drawn.
    if (!this.#options.replyRunner.isAnswering(conversationId)) this.#send(conversationId, id);
  }

  /** Removes a message from the queue. */
  remove(conversationId: string, id: string): void {
    this.#set(
      conversationId,
      this.getMessages(conversationId).filter((message) => message.id !== id),
    );
  }

  /** Sends a message now, and stops an answer in progress. */
  sendNow(conversationId: string, id: string): void {
    const { replyRunner } = this.#options;
    if (!replyRunner.isAnswering(conversationId)) return this.#send(conversationId, id);
    this.#urgent.add(id);
    replyRunner.stopIn(conversationId);
  }

  /** Stops storing messages, so that a queue that is deleted at the sign-out is not stored again. */
  close(): void {
    this.#storage = undefined;
  }

  #sendNext(conversationId: string, reply: Reply): void {
    const queue = this.getMessages(conversationId);
    if (queue.length === 0 || this.#options.replyRunner.isAnswering(conversationId)) return;
    const urgent = queue.find(({ id }) => this.#urgent.has(id));
    const next = urgent ?? (isCompleteAnswer(reply) ? queue.find(({ isHeld }) => !isHeld) : undefined);
    if (next !== undefined) return this.#send(conversationId, next.id);
    this.#set(
      conversationId,
      queue.map((message) => ({ ...message, isHeld: true })),
    );
  }

  #send(conversationId: string, id: string): void {
    const { library, replyRunner } = this.#options;
    const message = this.getMessages(conversationId).find((candidate) => candidate.id === id);
    const conversation = library.find(conversationId);
    this.#urgent.delete(id);
    this.remove(conversationId, id);
    if (message === undefined || conversation === undefined) return;
    const { id: _, isHeld, ...content } = message;
    void replyRunner.sendQuestion(conversationId, { parent: listVisibleTurns(conversation).at(-1)?.id ?? '', ...content });
  }

  #set(conversationId: string, queue: readonly QueuedMessage[]): void {
    this.#queues.set(conversationId, queue.length === 0 ? noMessages : queue);
    this.#storage?.write(conversationId, queue.length === 0 ? '' : JSON.stringify(queue));
    for (const listener of this.#listeners) listener();
  }
}

function parseMessages(text: string): readonly QueuedMessage[] {
  const stored = text === '' ? [] : tryParseJson(text);
  if (!Array.isArray(stored)) return noMessages;
  const valid = stored.filter((item) => isJsonObject(item) && typeof item.text === 'string' && Array.isArray(item.attachments));
  return valid.map((message) => ({ ...(message as unknown as QueuedMessage), isHeld: true }));
}
