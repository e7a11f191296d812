import { type Exchange, type HttpClient, HttpError, type HttpRequest, type ReplyHeaders, type ReplyListener } from './client.ts';

const maxQueuedBytes = 64 * 1024;
const endOfReply: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A reply whose head has arrived. */
export interface HttpReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /**
   * Content as latin1 text (one character per byte). Pieces that arrive while the reader is busy are joined. The body can be read
   * once, with one `next` at a time. After an abort it throws the signal's reason. After an `HttpError` it first returns the
   * content that arrived before. Leaving the loop early closes the connection.
   */
  readonly body: AsyncIterable<string>;
}

/** Sends the request and resolves with the reply's head for any status. Rejects with `HttpError` or the signal's reason. */
export function openReply(client: HttpClient, request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const reader = new ReplyReader(signal, resolve, reject);
    reader.start(client.send(request, reader));
  });
}

/** Reads the complete body as UTF-8 text. Throws `HttpError` `too_large` above `maxBytes`, and rethrows errors of the body. */
export async function readText(reply: HttpReply, maxBytes: number): Promise<string> {
  return (await readBytes(reply, maxBytes)).toString('utf8');
}

/** Reads the complete body as bytes. Throws like `readText`. */
export async function readBytes(reply: HttpReply, maxBytes: number): Promise<Buffer> {
  let text = '';
  for await (const piece of reply.body) {
    text += piece;
    if (text.length > maxBytes) throw new HttpError('too_large', `the reply's body is larger than ${maxBytes} bytes`);
  }
  return Buffer.from(text, 'latin1');
}

class ReplyReader implements ReplyListener, AsyncIterableIterator<string, undefined> {
  readonly #signal: AbortSignal;
  #exchange: Exchange | null = null;
  #resolveHead: ((reply: HttpReply) => void) | null;
  #rejectHead: ((reason: unknown) => void) | null;
  #resolveNext: ((result: IteratorResult<string, undefined>) => void) | null = null;
  #rejectNext: ((reason: unknown) => void) | null = null;
  #queued = '';
  #isPaused = false;
  #hasEnded = false;
  #hasFailed = false;
  #reason: unknown = null;
  readonly #wait = (resolve: (result: IteratorResult<string, undefined>) => void, reject: (reason: unknown) => void): void => {
    this.#resolveNext = resolve;
    this.#rejectNext = reject;
  };

  constructor(signal: AbortSignal, resolveHead: (reply: HttpReply) => void, rejectHead: (reason: unknown) => void) {
    this.#signal = signal;
    this.#resolveHead = resolveHead;
    this.#rejectHead = rejectHead;
  }

  start(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#signal.addEventListener('abort', this);
  }

  handleEvent(): void {
    this.#exchange?.cancel();
    this.#queued = '';
    this.#settle(this.#signal.reason);
  }

  head(status: number, headers: ReplyHeaders): void {
    const resolve = this.#resolveHead;
    this.#resolveHead = null;
    this.#rejectHead = null;
    resolve?.({ status, headers, body: this });
  }

  bytes(text: string): void {
    const resolve = this.#resolveNext;
    if (resolve !== null) {
      this.#resolveNext = null;
      this.#rejectNext = null;
      resolve({ done: false, value: text });
      return;
    }
    this.#queued += text;
    if (this.#queued.length > maxQueuedBytes && !this.#isPaused) {
      this.#isPaused = true;
      this.#exchange?.pause();
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#detach();
    const resolve = this.#resolveNext;
    this.#resolveNext = null;
    this.#rejectNext = null;
    resolve?.(endOfReply);
  }

  fail(error: HttpError): void {
    this.#settle(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<string, undefined>> {
    if (this.#queued !== '') {
      const value = this.#queued;
      this.#queued = '';
      if (this.#isPaused) {
        this.#isPaused = false;
        this.#exchange?.resume();
      }
      return Promise.resolve({ done: false, value });
    }
    if (this.#hasFailed) {
      this.#hasFailed = false;
      return Promise.reject(this.#reason);
    }
    if (this.#hasEnded) return Promise.resolve(endOfReply);
    if (this.#resolveNext !== null) return Promise.reject(new Error('the previous read has not finished'));
    return new Promise(this.#wait);
  }

  return(): Promise<IteratorResult<string, undefined>> {
    this.#exchange?.cancel();
    this.#queued = '';
    this.#hasFailed = false;
    this.end();
    return Promise.resolve(endOfReply);
  }

  #settle(reason: unknown): void {
    this.#hasEnded = true;
    this.#detach();
    const reject = this.#rejectHead ?? this.#rejectNext;
    this.#resolveHead = null;
    this.#rejectHead = null;
    this.#resolveNext = null;
    this.#rejectNext = null;
    if (reject !== null) {
      reject(reason);
      return;
    }
    this.#hasFailed = true;
    this.#reason = reason;
  }

  #detach(): void {
    this.#exchange = null;
    this.#signal.removeEventListener('abort', this);
  }
}
