import { LateHandle } from '#base/stream/deferred-handle.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { readContextOverflow } from '#contract/errors/error-conditions.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Answer, Target } from '#domain/call.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import type { CallAccount } from './call-account.ts';
import type { LimitReservation } from './reserve-limits.ts';

/** The next step of a reply, which knows whether anything has come. */
interface BegunSink<Item> extends Sink<Item> {
  readonly hasBegun: boolean;
}

/**
 * Passes a reply on. When it ends, for whatever reason, charges what it used, gives back what was reserved, and reports it to the chain of calls it
 * belongs to. The report arrives before the end of the reply goes out: an application that has read the end may end its own call.
 */
export class MeteredReply<Item = RawFrame> implements Sink<Item>, Answer {
  readonly ignored: ReadonlySet<string>;
  readonly over: Promise<void>;
  #resolveOver: () => void = () => undefined;
  readonly #target: Target;
  readonly #account: CallAccount;
  readonly #reply: BegunSink<Item>;
  readonly #work = new LateHandle();
  #isOver = false;
  /** Whether it ended without a fault. */
  #isWhole = false;
  #isCancelled = false;

  constructor(target: Target, account: CallAccount, reply: BegunSink<Item>) {
    this.ignored = account.ignored;
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    this.#target = target;
    this.#account = account;
    this.#reply = reply;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#account.headers;
  }

  used(): readonly ModelUsage[] {
    return this.#used() ?? [];
  }

  /** Whether it has ended, or nobody wants it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Starts the work behind the reply, unless nobody wants it any more. */
  begin(reservation: LimitReservation, start: (sink: Sink<Item>) => Handle): void {
    if (this.#isOver) return reservation.settle?.(undefined);
    this.#account.admit(reservation);
    try {
      this.#work.follow(start(this));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** Ends a reply whose work may not begin. */
  refuse(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reply.fail(error);
    this.#resolveOver();
  }

  frame(frame: Item): void {
    if (this.#isOver) return;
    try {
      this.#reply.frame(frame);
    } catch (thrown) {
      this.#work.cancel();
      this.fail(thrown);
    }
  }

  end(): void {
    if (this.#isOver) return;
    if (!this.#reply.hasBegun) return this.fail(new UpstreamFault('broken', 'The upstream ended its answer without a reply.'));
    this.#isOver = true;
    this.#isWhole = true;
    this.#account.usage.complete();
    this.#close();
  }

  fail(thrown: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#close({ error: toError(thrown, this.#target) });
  }

  pause(): void {
    this.#work.pause();
  }

  resume(): void {
    this.#work.resume();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#work.cancel();
    if (!this.#isOver) this.#account.report(this.#used())?.catch(() => undefined);
    this.#isOver = true;
    this.#settle();
    this.#resolveOver();
  }

  /** What was used is reported first. */
  #close(fault?: { readonly error: unknown }): void {
    const reporting = this.#account.report(this.#used());
    if (reporting === undefined) return this.#tellEnd(fault);
    reporting.then(
      () => this.#tellEnd(fault),
      (thrown: unknown) => this.#tellEnd({ error: thrown }),
    );
  }

  /** What was used is counted first: with the end of the reply the record of its call may end. */
  #tellEnd(fault: { readonly error: unknown } | undefined): void {
    this.#settle();
    if (this.#isCancelled) return;
    try {
      if (fault !== undefined) this.#reply.fail(fault.error);
      else this.#reply.end();
    } catch (thrown) {
      this.#reply.fail(toError(thrown, this.#target));
    }
    this.#resolveOver();
  }

  /** A reply that failed before it began has used nothing; one that its caller left has, since the upstream was at work. */
  #used(): readonly ModelUsage[] | undefined {
    const wasAtWork = this.#reply.hasBegun || (this.#isCancelled && this.#account.isAdmitted);
    return wasAtWork ? this.#account.usage.billed() : undefined;
  }

  #settle(): void {
    this.#account.settle(this.#used(), this.#isWhole);
  }
}

function toError(thrown: unknown, { call }: Target): unknown {
  if (!(thrown instanceof UpstreamFault)) return thrown;
  const { message, displayMessage, code, status } = thrown;
  const overflow = status === 400 ? readContextOverflow(code, message) : undefined;
  if (overflow !== undefined)
    return new ParleyError('context_length_exceeded', message, { cause: thrown, displayMessage, overflow });
  return new ParleyError('upstream_failed', `The answer of ${call.deployment} failed: ${message}`, {
    cause: thrown,
    displayMessage,
  });
}
