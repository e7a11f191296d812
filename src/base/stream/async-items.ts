import type { Handle, Sink } from './sink.ts';

/**
 * Pushes the items of an iterable into a sink. `cancel` aborts the signal of `open`. Errors of `open` and of the iterable fail the
 * sink.
 */
export function pipeFrom<Item>(
  open: (signal: AbortSignal) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>,
  sink: Sink<Item>,
): Handle {
  const pump = new Pump(sink);
  void pump.run(open);
  return pump;
}

/** Pushes one item into a sink. */
export function pipeOneFrom<Item>(createItem: (signal: AbortSignal) => Promise<Item>, sink: Sink<Item>): Handle {
  return pipeFrom(async function* (signal) {
    yield await createItem(signal);
  }, sink);
}

class Pump<Item> implements Handle {
  readonly #sink: Sink<Item>;
  readonly #controller = new AbortController();
  #pausePromise: Promise<void> | undefined;
  #resolvePause: (() => void) | undefined;

  constructor(sink: Sink<Item>) {
    this.#sink = sink;
  }

  pause(): void {
    this.#pausePromise ??= new Promise((resolve) => {
      this.#resolvePause = resolve;
    });
  }

  resume(): void {
    this.#resolvePause?.();
    this.#pausePromise = undefined;
  }

  cancel(): void {
    this.#controller.abort(new Error('The consumer closed the stream'));
    this.resume();
  }

  async run(open: (signal: AbortSignal) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>): Promise<void> {
    const { signal } = this.#controller;
    try {
      // The caller must receive the handle before the first item is pushed.
      await undefined;
      for await (const item of await open(signal)) {
        if (signal.aborted) return;
        this.#sink.push(item);
        await this.#pausePromise;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!signal.aborted) this.#sink.fail(error);
      return;
    }
    if (!signal.aborted) this.#sink.end();
  }
}

/** Maximum number of unread items before the source is paused. */
const maxWaiting = 64;

/**
 * Returns an async iterable of the items that `start` pushes into its sink. `start` is called at the first read. A slow reader
 * pauses the source. A reader that leaves the loop early, or an aborted signal, cancels the source.
 */
export function toAsyncIterable<Item>(start: (sink: Sink<Item>) => Handle, signal?: AbortSignal): AsyncIterable<Item> {
  return { [Symbol.asyncIterator]: () => new PushedItems(start, signal) };
}

class PushedItems<Item> implements Sink<Item>, AsyncIterator<Item, undefined> {
  readonly #start: (sink: Sink<Item>) => Handle;
  readonly #signal: AbortSignal | undefined;
  readonly #items: Item[] = [];
  readonly #onAbort = (): void => this.#cancel(this.#signal?.reason);
  #handle: Handle | undefined;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(start: (sink: Sink<Item>) => Handle, signal: AbortSignal | undefined) {
    this.#start = start;
    this.#signal = signal;
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#handle === undefined && !this.#isClosed) this.#open();
    for (;;) {
      const item = this.#items.shift();
      if (item !== undefined) {
        if (this.#items.length === 0) this.#handle?.resume();
        return { done: false, value: item };
      }
      if (this.#failure !== undefined) {
        const { error } = this.#failure;
        this.#failure = undefined;
        throw error;
      }
      if (this.#isClosed) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#items.length = 0;
    if (!this.#isClosed) this.#cancel(undefined);
    this.#failure = undefined;
    return { done: true, value: undefined };
  }

  push(item: Item): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    if (this.#items.length >= maxWaiting) this.#handle?.pause();
    this.#wake?.();
  }

  end(): void {
    this.#close();
  }

  fail(error: unknown): void {
    if (!this.#isClosed) this.#failure = { error };
    this.#close();
  }

  #open(): void {
    this.#signal?.throwIfAborted();
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    try {
      this.#handle = this.#start(this);
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  #cancel(error: unknown): void {
    this.#items.length = 0;
    this.fail(error);
    this.#handle?.cancel();
  }

  #close(): void {
    this.#isClosed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#wake?.();
  }
}

/** Passes items from many writers to one reader, in the order of the calls to `put`. */
export class Channel<Item> {
  readonly #items: { item: Item; onConsumed: () => void }[] = [];
  #wake: () => void = () => undefined;
  #hasEnded = false;

  /** Resolves when the reader has received the item or has stopped. Writers that await it cannot flood the reader. */
  put(item: Item): Promise<void> {
    if (this.#hasEnded) return Promise.resolve();
    return new Promise((resolve) => {
      this.#items.push({ item, onConsumed: resolve });
      this.#wake();
    });
  }

  /** Ends the channel. The reader still receives the items that were put before. */
  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  async *readItems(): AsyncGenerator<Item, void> {
    try {
      for (;;) {
        const next = this.#items.shift();
        if (next !== undefined) {
          next.onConsumed();
          yield next.item;
        } else if (this.#hasEnded) return;
        else await this.#waitForMore();
      }
    } finally {
      this.#hasEnded = true;
      for (const { onConsumed } of this.#items.splice(0)) onConsumed();
    }
  }

  #waitForMore(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
