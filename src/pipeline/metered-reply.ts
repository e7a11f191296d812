import { DeferredHandle } from '#base/stream/deferred-handle.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { readContextOverflow } from '#contract/errors/error-conditions.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Answer, Target } from '#domain/calls/call.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import type { CallAccount } from './call-account.ts';
import type { QuotaReservation } from './reserve-quota.ts';

/** The next step of a reply. It reports whether the reply has started. */
interface StartedSink<Item> extends Sink<Item> {
  readonly hasStarted: boolean;
}

/**
 * Passes a reply on. When the reply ends for any reason, charges its usage, releases the reservation, and reports the usage to
 * the call chain. The report arrives before the end of the reply, because an application that has read the end may end its own
 * call.
 */
export class MeteredReply<Item = RawFrame> implements Sink<Item>, Answer {
  readonly ignoredFields: ReadonlySet<string>;
  readonly ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  readonly #target: Target;
  readonly #account: CallAccount;
  readonly #reply: StartedSink<Item>;
  readonly #work = new DeferredHandle();
  #hasEnded = false;
  /** Whether the reply ended without an error. */
  #isComplete = false;
  #isCanceled = false;

  constructor(target: Target, account: CallAccount, reply: StartedSink<Item>) {
    this.ignoredFields = account.ignoredFields;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#target = target;
    this.#account = account;
    this.#reply = reply;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#account.headers;
  }

  used(): readonly ModelUsage[] {
    return this.#getUsage() ?? [];
  }

  /** Whether the reply has ended or was canceled. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Starts the work for the reply, unless it has ended or was canceled. */
  begin(reservation: QuotaReservation, start: (sink: Sink<Item>) => Handle): void {
    if (this.#hasEnded) return reservation.settle?.(undefined);
    this.#account.admit(reservation);
    try {
      this.#work.follow(start(this));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends a reply whose work must not start. */
  reject(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#reply.fail(error);
    this.#resolveEnded();
  }

  push(frame: Item): void {
    if (this.#hasEnded) return;
    try {
      this.#reply.push(frame);
    } catch (error) {
      this.#work.cancel();
      this.fail(error);
    }
  }

  end(): void {
    if (this.#hasEnded) return;
    if (!this.#reply.hasStarted)
      return this.fail(new UpstreamError('broken', 'The upstream ended the response without a reply.'));
    this.#hasEnded = true;
    this.#isComplete = true;
    this.#account.usage.complete();
    this.#close();
  }

  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#close({ error: toError(error, this.#target) });
  }

  pause(): void {
    this.#work.pause();
  }

  resume(): void {
    this.#work.resume();
  }

  cancel(): void {
    this.#isCanceled = true;
    this.#work.cancel();
    if (!this.#hasEnded) this.#account.report(this.#getUsage())?.catch(() => undefined);
    this.#hasEnded = true;
    this.#settle();
    this.#resolveEnded();
  }

  /** Reports the usage, then ends the reply. */
  #close(failure?: { readonly error: unknown }): void {
    const reporting = this.#account.report(this.#getUsage());
    if (reporting === undefined) return this.#sendEnd(failure);
    reporting.then(
      () => this.#sendEnd(failure),
      (error: unknown) => this.#sendEnd({ error }),
    );
  }

  /** Settles the usage before it ends the reply, because the record of the call may end with the reply. */
  #sendEnd(failure: { readonly error: unknown } | undefined): void {
    this.#settle();
    if (this.#isCanceled) return;
    try {
      if (failure !== undefined) this.#reply.fail(failure.error);
      else this.#reply.end();
    } catch (error) {
      this.#reply.fail(toError(error, this.#target));
    }
    this.#resolveEnded();
  }

  /**
   * Returns the usage to charge, or undefined for a reply that failed before it started. A reply that was canceled before it
   * started has usage, because the upstream was working.
   */
  #getUsage(): readonly ModelUsage[] | undefined {
    const isBillable = this.#reply.hasStarted || (this.#isCanceled && this.#account.isAdmitted);
    return isBillable ? this.#account.usage.getBilledUsage() : undefined;
  }

  #settle(): void {
    this.#account.settle(this.#getUsage(), this.#isComplete);
  }
}

function toError(error: unknown, { call }: Target): unknown {
  if (!(error instanceof UpstreamError)) return error;
  const { message, displayMessage, code, status } = error;
  const overflow = status === 400 ? readContextOverflow(code, message) : undefined;
  if (overflow !== undefined)
    return new ParleyError('context_length_exceeded', message, { cause: error, displayMessage, overflow });
  return new ParleyError('upstream_failed', `The answer of ${call.deployment} failed: ${message}`, {
    cause: error,
    displayMessage,
  });
}
