import type { Handle, Sink } from './sink.ts';

/** Pushes the items of an iterable into a sink. `cancel` aborts the signal of `open`. Errors of `open` fail the sink. */
export function pipeFrom<Item>(
  open: (signal: AbortSignal) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>,
  sink: Sink<Item>,
): Handle {
  const activePump = new Pump(sink);
  void activePump.run(open);
  return activePump;
}

/** Pushes one item into a sink. */
export function pipeOneFrom<Item>(make: (signal: AbortSignal) => Promise<Item>, sink: Sink<Item>): Handle {
  return pipeFrom(async function* (signal) {
    yield await make(signal);
  }, sink);
}

class Pump<Item> implements Handle {
  readonly #sink: Sink<Item>;
  readonly #controller = new AbortController();
  #paused: Promise<void> | undefined;
  #resolvePause: (() => void) | undefined;

  constructor(sink: Sink<Item>) {
    this.#sink = sink;
  }

  pause(): void {
    this.#paused ??= new Promise((resolve) => {
      this.#resolvePause = resolve;
    });
  }

  resume(): void {
    this.#resolvePause?.();
    this.#paused = undefined;
  }

  cancel(): void {
    this.#controller.abort(new Error('The consumer closed the stream'));
    this.resume();
  }

  async run(open: (signal: AbortSignal) => AsyncIterable<Item> | Promise<AsyncIterable<Item>>): Promise<void> {
    const { signal } = this.#controller;
    try {
      // Nothing may be pushed before `pump` returns.
      await undefined;
      for await (const item of await open(signal)) {
        if (signal.aborted) return;
        this.#sink.frame(item);
        await this.#paused;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!signal.aborted) this.#sink.fail(error);
      return;
    }
    if (!signal.aborted) this.#sink.end();
  }
}
