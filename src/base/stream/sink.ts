/** Receiver of pushed items: any number of calls to `push`, then exactly one call to `end` or `fail`. */
export interface Sink<Item> {
  push(item: Item): void;
  /** Called after the last item. */
  end(): void;
  /** Called with the error that ended the stream early. */
  fail(error: unknown): void;
}

/** Controls the source that pushes into a sink. Every method may be called at any time, repeatedly, and from inside the sink. */
export interface Handle {
  /** Pauses the source until `resume` (back-pressure). Items that are already on their way may still arrive. */
  pause(): void;
  resume(): void;
  /** Stops the work immediately. The sink receives no further calls, not even `fail`. */
  cancel(): void;
}
