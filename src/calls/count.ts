import { Deferred } from '#base/deferred.ts';
import { One } from '#base/one.ts';
import { peek } from '#base/peek.ts';
import { ParleyError } from '#contract/errors.ts';
import { Frame } from '#contract/frame.ts';
import type { Call } from '#domain/call.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { costOf } from '#domain/usage/cost.ts';
import { addUp } from '#domain/usage/usage.ts';
import type { ReplyOrder } from './reply-order.ts';
import type { LimitReservation } from './reserve-limits.ts';

export interface Counting {
  readonly call: Call;
  readonly deployment: Deployment;
  readonly order: ReplyOrder;
  readonly reservation: LimitReservation;
}

/**
 * The reply in order, with its totals; whatever its end, what was used is charged, and reported to the chain it belongs
 * to. The report has arrived before the end of the reply goes out: the application that hears the end may end as well.
 */
export function count(frames: AsyncIterable<Frame>, counting: Counting): AsyncIterable<Frame> {
  const coming = peek(frames).then(
    (reply) => counted(reply, counting),
    (error) => failed(error, counting),
  );
  return new Deferred(coming);
}

/** A reply in one piece is counted at once, unless its end has to wait for a report. */
function counted(reply: AsyncIterable<Frame>, counting: Counting): AsyncIterable<Frame> {
  const { call, order } = counting;
  if (!(reply instanceof One) || call.caller.chain !== null) return new Counted(reply[Symbol.asyncIterator](), counting);
  let frames: readonly Frame[];
  try {
    frames = [...order.take(reply.item), ...order.end()];
  } catch (error) {
    return failed(error, counting);
  }
  settle(counting);
  const [frame] = frames;
  return new One(frame !== undefined && frames.length === 1 ? frame : Frame.ofChunks(...frames.flatMap(({ chunks }) => chunks)));
}

function failed(error: unknown, counting: Counting): Counted {
  return new Counted({ next: () => Promise.reject(error) }, counting);
}

const none: readonly Frame[] = [];

type Result = IteratorResult<Frame, undefined>;

interface Fault {
  readonly error: unknown;
}

/** Written by hand: every frame of every reply passes here, and a generator suspends twice for each. */
class Counted implements AsyncIterable<Frame>, AsyncIterator<Frame, undefined> {
  readonly #frames: AsyncIterator<Frame, undefined>;
  readonly #counting: Counting;
  #ready = none;
  #taken = 0;
  /** Whether the source has ended, well or not. */
  #hasEnded = false;
  #isSettled = false;
  #fault: Fault | undefined;

  readonly #came = (result: Result): Result | Promise<Result> => this.#take(result) ?? this.#readOn();
  readonly #broke = (error: unknown): Promise<Result> => this.#end({ error });

  constructor(frames: AsyncIterator<Frame, undefined>, counting: Counting) {
    this.#frames = frames;
    this.#counting = counting;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const ready = this.#shift();
    if (ready !== undefined) return Promise.resolve(ready);
    // An open stream keeps nothing that has gone out.
    this.#offer(none);
    if (!this.#hasEnded) return this.#frames.next().then(this.#came, this.#broke);
    this.#settle();
    const fault = this.#fault;
    this.#fault = undefined;
    return fault === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(fault.error);
  }

  /** The reader wants no more. */
  async return(): Promise<Result> {
    this.#offer(none);
    this.#fault = undefined;
    try {
      if (!this.#hasEnded) {
        this.#hasEnded = true;
        await this.#frames.return?.();
        await report(this.#counting);
      }
    } finally {
      this.#settle();
    }
    return { done: true, value: undefined };
  }

  /** Frames of which nothing goes on are waited for in a loop: a promise for each of them would be kept until one does. */
  async #readOn(): Promise<Result> {
    const take = (result: Result): Result | Promise<Result> | undefined => this.#take(result);
    for (;;) {
      const ready = await this.#frames.next().then(take, this.#broke);
      if (ready !== undefined) return ready;
    }
  }

  #take(result: Result): Result | Promise<Result> | undefined {
    if (result.done) return this.#end();
    try {
      this.#offer(this.#counting.order.take(result.value));
    } catch (thrown) {
      return this.#gaveUp(thrown);
    }
    return this.#shift();
  }

  /** What came cannot be put in order: its source is told to stop. */
  async #gaveUp(error: unknown): Promise<Result> {
    await this.#frames.return?.().catch(() => undefined);
    return this.#end({ error });
  }

  /** The source has ended: well, or by a fault. */
  async #end(broken?: Fault): Promise<Result> {
    const { call, order } = this.#counting;
    this.#hasEnded = true;
    let fault = broken;
    let owed = none;
    try {
      if (fault === undefined) owed = order.end();
    } catch (error) {
      fault = { error };
    }
    try {
      await report(this.#counting);
    } catch (error) {
      fault = { error };
    }
    if (fault !== undefined) {
      this.#fault = { error: toError(fault.error, call) };
      owed = call.signal.aborted ? none : order.closeStages();
    }
    this.#offer(owed);
    return this.next();
  }

  #shift(): Result | undefined {
    const value = this.#ready[this.#taken];
    if (value === undefined) return undefined;
    this.#taken += 1;
    return { done: false, value };
  }

  #offer(frames: readonly Frame[]): void {
    this.#ready = frames;
    this.#taken = 0;
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    settle(this.#counting);
  }
}

/** A reply that failed before it began has used nothing; one that its caller left has, since the upstream was at work. */
export function wasAtWork({ call, order }: Pick<Counting, 'call' | 'order'>): boolean {
  return order.hasBegun || call.signal.aborted;
}

function report(counting: Counting): void | Promise<void> {
  const { chain } = counting.call.caller;
  return chain !== null && wasAtWork(counting) ? chain.report(counting.order.counts()) : undefined;
}

function settle(counting: Counting): void {
  if (!wasAtWork(counting)) return;
  const { call, deployment, order, reservation } = counting;
  const { usage, statistics } = order.totals();
  const cost = costOf(deployment, usage);
  call.record.charged(cost);
  reservation.charge({ tokens: addUp(statistics.usage_per_model).total_tokens, cost });
}

function toError(thrown: unknown, call: Call): unknown {
  if (!(thrown instanceof UpstreamFault)) return thrown;
  return new ParleyError('upstream_failed', `The answer of ${call.deployment} failed: ${thrown.message}`, { cause: thrown });
}
