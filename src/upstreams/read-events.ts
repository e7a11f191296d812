import { EventSplitter, EventTooLarge } from '#base/event-splitter.ts';
import type { Frame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { linger } from './linger.ts';
import { toEarlyFault, toUpstreamFault, unanswered } from './send.ts';

/** What the events of one reply mean, in one dialect. */
export interface EventReader {
  /** Whether the reply came to its own end. */
  readonly hasEnded: boolean;
  /** The frames that whole events mean, in order. Throws UpstreamFault behind those of the events before the fault. */
  take(events: string): Iterator<Frame, void>;
  /** Whether an event ends the reply. Some upstreams close right behind this one, without its empty line. */
  isEndMark(event: string): boolean;
}

/**
 * The events of a reply as frames, up to its end mark. A stream that closes without it, or brings an error event, is a fault;
 * one that closes ahead of its first event counts as no answer.
 */
export function readEvents(body: AsyncIterable<string>, reader: EventReader): AsyncIterable<Frame> {
  return new ReadEvents(body[Symbol.asyncIterator](), reader);
}

const over: IteratorReturnResult<undefined> = { done: true, value: undefined };
const none: Iterator<Frame, void> = [].values();

type Result = IteratorResult<Frame, undefined>;

/** Written by hand: a read of an open stream waits for one promise, and keeps less than a generator would. */
class ReadEvents implements AsyncIterable<Frame>, AsyncIterator<Frame, undefined> {
  readonly #pieces: AsyncIterator<string>;
  readonly #reader: EventReader;
  readonly #splitter = new EventSplitter();
  /** Those of the last read that are still to be given. */
  #frames = none;
  #hasBegun = false;
  #isOver = false;

  readonly #came = (piece: IteratorResult<string>): Result | Promise<Result> => {
    try {
      return this.#take(piece) ?? this.#readOn();
    } catch (thrown) {
      return this.#failed(thrown);
    }
  };

  readonly #failed = async (thrown: unknown): Promise<never> => {
    await this.#leave();
    if (thrown instanceof EventTooLarge)
      throw new UpstreamFault('broken', 'The upstream sent an event that is too large.', { cause: thrown });
    throw this.#hasBegun ? toUpstreamFault(thrown) : toEarlyFault(thrown);
  };

  constructor(pieces: AsyncIterator<string>, reader: EventReader) {
    this.#pieces = pieces;
    this.#reader = reader;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    try {
      const ready = this.#ready();
      return ready === undefined ? this.#pieces.next().then(this.#came, this.#failed) : Promise.resolve(ready);
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  async return(): Promise<Result> {
    await this.#leave();
    return over;
  }

  /** Reads that bring no frame are waited for in a loop: a promise for each of them would be kept until one does. */
  async #readOn(): Promise<Result> {
    try {
      for (;;) {
        const ready = this.#take(await this.#pieces.next());
        if (ready !== undefined) return ready;
      }
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  #take(piece: IteratorResult<string>): Result | undefined {
    if (!this.#isOver) this.#frames = this.#reader.take(this.#toEvents(piece));
    return this.#ready();
  }

  /** What can be given without a read; undefined where there has to be one. */
  #ready(): Result | undefined {
    if (this.#isOver) return over;
    const frame = this.#frames.next();
    if (frame.done !== true) {
      this.#hasBegun = true;
      return frame;
    }
    this.#frames = none;
    if (!this.#reader.hasEnded) return undefined;
    void this.#leave();
    return over;
  }

  #toEvents(piece: IteratorResult<string>): string {
    if (piece.done !== true) return this.#splitter.push(piece.value);
    const { rest } = this.#splitter;
    if (!this.#hasBegun && rest.trim() === '') throw unanswered();
    if (!this.#reader.isEndMark(rest)) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
    return `${rest.trimEnd()}\n\n`;
  }

  /** The connection of a reply that ended well can serve again. */
  async #leave(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#frames = none;
    if (this.#reader.hasEnded) linger(this.#pieces);
    else await this.#pieces.return?.();
  }
}
