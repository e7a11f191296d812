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
        this.#sink.frame(item);
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
