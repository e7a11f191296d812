/**
 * Takes items as they come: `frame` any number of times, then `end` or `fail`, exactly once, and nothing after it.
 */
export interface Sink<Item> {
  frame(item: Item): void;
  /** All items have come. */
  end(): void;
  /** No more items come, because of this error. */
  fail(error: unknown): void;
}

/** Steers what pushes into a sink. Every method may be called at any time, more than once, also from inside the sink. */
export interface Handle {
  /** Back-pressure: asks for nothing more until `resume`. What is on its way already may still come. */
  pause(): void;
  resume(): void;
  /** Stops the work at once. Nothing more is pushed, not even `fail`: whoever cancels knows why. */
  cancel(): void;
}
