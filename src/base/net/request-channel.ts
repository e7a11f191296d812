/** A JSON value. The types of bodies are known to both ends, because they are processes of one program. */
type Body = unknown;

/** A message between two ends of a channel: a request, a request without an answer, or an answer. */
export type ChannelMessage =
  | { readonly topic: string; readonly id?: number; readonly body: Body }
  | { readonly answers: number; readonly body?: Body; readonly error?: string };

/** Handles a request. The result becomes the answer. */
export type RequestHandler = (body: never) => Body | Promise<Body>;

const defaultTimeoutMs = 5_000;

export interface RequestOptions {
  /** Default: 5000. */
  readonly timeoutMs?: number;
  /** Called with the answer before any later message is processed, which a promise does not guarantee. */
  readonly onAnswer?: (body: never) => void;
  /** Called instead of `onAnswer` if the answer arrives after the timeout, for example to undo a reservation. */
  readonly onLate?: ((body: never) => void) | undefined;
}

/** Thrown if the other end reports an error, does not answer in time, or is gone. */
class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

interface PendingRequest {
  readonly resolve: (body: Body) => void;
  readonly onAnswer: RequestOptions['onAnswer'];
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Requests in both directions over an ordered transport of messages, such as the IPC channel of a child process. */
export class RequestChannel {
  readonly #post: (message: ChannelMessage) => void;
  readonly #handlers: ReadonlyMap<string, RequestHandler>;
  readonly #pending = new Map<number, PendingRequest>();
  #sent = 0;
  #isClosed = false;

  /** `handlers` are the handlers by topic. More may be added to the map later. */
  constructor(post: (message: ChannelMessage) => void, handlers: ReadonlyMap<string, RequestHandler>) {
    this.#post = post;
    this.#handlers = handlers;
  }

  /** Resolves with the answer. Rejects with `ChannelError`. */
  request(topic: string, body: Body, { timeoutMs = defaultTimeoutMs, onAnswer, onLate }: RequestOptions = {}): Promise<Body> {
    if (this.#isClosed) return Promise.reject(new ChannelError('the other process has ended'));
    this.#sent += 1;
    const id = this.#sent;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (onLate === undefined) this.#pending.delete(id);
        else this.#pending.set(id, { resolve, reject, timer, onAnswer: onLate });
        reject(new ChannelError(`another process did not answer "${topic}" within ${timeoutMs} ms`));
      }, timeoutMs).unref();
      this.#pending.set(id, { resolve, reject, timer, onAnswer });
      this.#post({ topic, id, body });
    });
  }

  /** Sends a request whose answer does not matter. */
  send(topic: string, body: Body): void {
    if (!this.#isClosed) this.#post({ topic, body });
  }

  /** Processes a message of the other end. */
  receive(message: ChannelMessage): void {
    if ('answers' in message) this.#settle(message.answers, message);
    else void this.#handle(message);
  }

  /** Rejects the pending and all later requests. */
  close(): void {
    this.#isClosed = true;
    for (const id of [...this.#pending.keys()]) this.#settle(id, { error: 'the other process has ended' });
  }

  #settle(id: number, { body, error }: { readonly body?: Body; readonly error?: string }): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (error !== undefined) return pending.reject(new ChannelError(error));
    pending.onAnswer?.(body as never);
    pending.resolve(body);
  }

  async #handle({ topic, id, body }: Extract<ChannelMessage, { topic: string }>): Promise<void> {
    const answer = (result: { readonly body?: Body; readonly error?: string }): void => {
      if (id !== undefined && !this.#isClosed) this.#post({ answers: id, ...result });
    };
    try {
      const handler = this.#handlers.get(topic);
      if (handler === undefined) throw new ChannelError(`no handler for "${topic}"`);
      // A handler that answers immediately keeps the order of requests.
      const result = handler(body as never);
      answer({ body: result instanceof Promise ? await result : result });
    } catch (error) {
      answer({ error: error instanceof Error ? error.message : String(error) });
    }
  }
}
