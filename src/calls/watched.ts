import type { Clock } from '#base/clock.ts';
import type { Frame } from '#contract/frame.ts';
import type { TryOutcome, TryRecord } from '#domain/telemetry.ts';
import { outcomeOf } from './attempts.ts';

export interface Watching {
  /** Of the try whose frames these are. */
  readonly record: TryRecord;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Throws what a fault may be told as. */
  readonly clear: (thrown: unknown) => never;
}

/** Passes the frames of a try on and ends its record with them. An open stream keeps one of these, which is less than a generator. */
export class Watched implements AsyncIterable<Frame>, AsyncIterator<Frame, undefined> {
  readonly #frames: AsyncIterator<Frame, undefined>;
  readonly #watching: Watching;
  readonly #passed = (result: IteratorResult<Frame, undefined>): IteratorResult<Frame, undefined> => {
    if (result.done) this.#end('ok');
    return result;
  };
  readonly #failed = (thrown: unknown): never => {
    const { signal, clear } = this.#watching;
    this.#end(signal.aborted ? 'left' : outcomeOf(thrown));
    return clear(thrown);
  };

  constructor(frames: AsyncIterable<Frame, undefined>, watching: Watching) {
    this.#frames = frames[Symbol.asyncIterator]();
    this.#watching = watching;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Frame, undefined>> {
    return this.#frames.next().then(this.#passed, this.#failed);
  }

  async return(): Promise<IteratorResult<Frame, undefined>> {
    try {
      await this.#frames.return?.();
    } finally {
      this.#end('left');
    }
    return { done: true, value: undefined };
  }

  #end(outcome: TryOutcome): void {
    const { record, clock } = this.#watching;
    record.end(outcome, clock.nowMs());
  }
}
