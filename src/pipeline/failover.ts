import { toAsyncIterable } from '#base/stream/async-items.ts';
import { DeferredHandle } from '#base/stream/deferred-handle.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Target } from '#domain/calls/call.ts';
import type { AttemptOutcome, AttemptRecord } from '#domain/calls/telemetry.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import { type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import {
  isCallRejection,
  isRetryable,
  toCallerError,
  toRejectionError,
  withoutSecrets,
} from '#domain/upstreams/upstream-error.ts';
import type { WaitingCall } from '#domain/upstreams/upstream-queue.ts';
import type { CallAccount } from './call-account.ts';

/** Delay of the second attempt of a call, if it repeats an upstream. Each further attempt doubles the delay. */
const firstRetryDelayMs = 50;

export interface FailoverDeps {
  readonly loadBalancer: LoadBalancer;
  readonly clock: Clock;
}

/** A call, and the function that sends its request to one upstream. */
export interface FailoverInput<Item> {
  readonly target: Pick<Target, 'call' | 'deployment' | 'snapshot'>;
  readonly affinity?: string | undefined;
  /** Upstreams that can answer the request. Undefined means that every upstream of the deployment can. */
  readonly capableUpstreams?: readonly Upstream[] | undefined;
  /** Whether the request can be sent again. Undefined means that it always can. */
  readonly mayRepeat?: () => boolean;
  /** Account that counts the attempts. A failure after a rejected inner call does not count against the upstream. */
  readonly account?: CallAccount;
  /** Secrets sent with the request in addition to the upstream's own key. Errors of the upstream may echo them. */
  readonly secrets?: readonly string[];
  /** Calls one upstream. Throws or pushes an error if there is no reply. Only an `UpstreamError` can be retried. */
  readonly sendRequest: (upstream: Upstream, attempt: AttemptRecord, sink: Sink<Item>) => Handle;
}

/**
 * Calls one upstream after the other until one sends a first item. Failures after the first item are not retried. The last
 * failure is pushed as an error that the client may see.
 */
export function failover<Item>(deps: FailoverDeps, input: FailoverInput<Item>, sink: Sink<Item>): Handle {
  const run = new Failover(deps, input, sink);
  const isSelective = input.capableUpstreams !== undefined;
  if (deps.loadBalancer.queue.hasWaiting(input.target.deployment.id, isSelective)) run.wait(input);
  else run.next(input);
  return run;
}

/**
 * Returns the single result of an operation from the first upstream that has one. Rejects with an error that the client may see,
 * or with the reason of the signal.
 */
export async function fetchFromUpstreams<Result>(
  deps: FailoverDeps,
  input: FailoverInput<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let first: { readonly result: Result } | undefined;
  // Reads to the end, because an attempt that is not read to its end counts as canceled.
  for await (const result of toAsyncIterable<Result>((sink) => failover(deps, input, sink), signal)) first ??= { result };
  if (first === undefined) throw new Error('The upstream returned no result and no error');
  return first.result;
}

const noIds: ReadonlySet<string> = new Set();

class Failover<Item> extends DeferredHandle implements Sink<Item> {
  readonly #deps: FailoverDeps;
  readonly #sink: Sink<Item>;
  readonly #secrets: readonly string[];
  readonly #deploymentId: string;
  /** Dropped with the first item, so that a long stream does not retain the request in memory. */
  #input: FailoverInput<Item> | undefined;
  #attempt: AttemptRecord | undefined;
  #upstream: Upstream | undefined;
  /** Upstream with `maxParallel` whose slot the current attempt occupies. */
  #occupied: Upstream | undefined;
  #attemptCount = 0;
  /** Start of the current attempt. */
  #requestedAtMs = 0;
  /** IDs of the upstreams that failed. */
  #triedIds = noIds;
  #error: UpstreamError | undefined;

  constructor(deps: FailoverDeps, input: FailoverInput<Item>, sink: Sink<Item>) {
    super();
    this.#deps = deps;
    this.#sink = sink;
    this.#secrets = input.secrets ?? [];
    this.#deploymentId = input.target.deployment.id;
    this.#input = input;
  }

  /** Calls the next upstream, or waits if all are full. */
  next(input: FailoverInput<Item>): void {
    if (!this.#tryNext(input)) this.wait(input);
  }

  /** Waits until an upstream has capacity. */
  wait(input: FailoverInput<Item>): void {
    const { loadBalancer, clock } = this.#deps;
    const { call: recordedCall, deployment, snapshot } = input.target;
    const { caller, record } = recordedCall;
    const startedAtMs = clock.nowMs();
    const timeout = new AbortController();
    const remove = (): void => {
      timeout.abort();
      loadBalancer.queue.remove(deployment, call);
    };
    const end = (): void => {
      timeout.abort();
      record.recordQueueWait(clock.nowMs() - startedAtMs);
    };
    const call: WaitingCall = {
      caller: caller.subject,
      startedAtMs,
      isBatch: isBatchCaller(snapshot.configuration.roles, caller.roles),
      isSelective: input.capableUpstreams !== undefined,
      start: () => {
        const hasStarted = this.#tryNext(input);
        if (hasStarted) end();
        return hasStarted;
      },
      fail: (error) => {
        end();
        this.#sink.fail(error);
      },
    };
    try {
      loadBalancer.queue.add(deployment, call);
    } catch (error) {
      return this.#sink.fail(error);
    }
    this.follow({ pause() {}, resume() {}, cancel: remove });
    const onTimeout = (): void => {
      const error = loadBalancer.queue.toTimeoutError(deployment, call);
      loadBalancer.queue.remove(deployment, call);
      call.fail(error);
    };
    clock.sleep(deployment.queue.maxWaitMs, timeout.signal).then(onTimeout, () => undefined);
  }

  /**
   * Calls the next upstream, or fails. An upstream that has already failed is called again only after a delay. Returns false if
   * every upstream that can answer is full.
   */
  #tryNext(input: FailoverInput<Item>): boolean {
    const { loadBalancer, clock } = this.#deps;
    const { affinity, target, capableUpstreams = target.deployment.upstreams } = input;
    const mayTry = this.#attemptCount < target.deployment.maxAttempts;
    const options = { triedIds: this.#triedIds, affinity, nowMs: clock.nowMs(), call: this };
    const upstream = mayTry ? loadBalancer.pick(capableUpstreams, options) : undefined;
    if (upstream === 'full') return false;
    if (upstream === undefined) this.#giveUp(input);
    else this.#callUpstream(input, upstream);
    return true;
  }

  #callUpstream(input: FailoverInput<Item>, upstream: Upstream): void {
    this.#attemptCount += 1;
    this.#upstream = upstream;
    if (upstream.maxParallel !== undefined) {
      this.#deps.loadBalancer.occupy(upstream);
      this.#occupied = upstream;
    }
    if (this.#triedIds.has(upstream.id)) return this.#retryLater(input, upstream);
    try {
      this.follow(this.#sendRequest(input, upstream));
    } catch (error) {
      this.fail(error);
    }
  }

  push(item: Item): void {
    if (this.#input !== undefined) this.#recordSuccess();
    this.#sink.push(item);
  }

  end(): void {
    if (this.#input !== undefined) this.#recordSuccess();
    this.#attempt?.end('ok', this.#deps.clock.nowMs());
    this.#vacate();
    this.#sink.end();
  }

  fail(cause: unknown): void {
    this.#attempt?.end(getOutcome(cause), this.#deps.clock.nowMs());
    this.#vacate();
    const upstream = this.#upstream;
    if (upstream !== undefined) this.#deps.loadBalancer.releaseProbe(upstream, this);
    if (!(cause instanceof UpstreamError) || upstream === undefined) return this.#sink.fail(cause);
    const error = withoutSecrets(cause, upstream, this.#secrets);
    const isRejection = isCallRejection(error, upstream);
    const input = this.#input;
    const concernsOnlyClient = isRejection || input?.account?.hasRejectedInnerCall === true;
    if (concernsOnlyClient) input?.target.call.caller.chain?.onRejection?.();
    if (input === undefined) return this.#sink.fail(isRejection ? toRejectionError(error) : error);
    this.#error = error;
    if (!concernsOnlyClient) this.#recordFailure(error, { upstream, input });
    if (!concernsOnlyClient && isRetryable(error) && input.mayRepeat?.() !== false) this.next(input);
    else this.#giveUp(input);
  }

  override cancel(): void {
    this.#attempt?.end('left', this.#deps.clock.nowMs());
    this.#vacate();
    if (this.#upstream !== undefined) this.#deps.loadBalancer.releaseProbe(this.#upstream, this);
    super.cancel();
  }

  #sendRequest({ sendRequest, target, account }: FailoverInput<Item>, upstream: Upstream): Handle {
    account?.startAttempt();
    this.#requestedAtMs = this.#deps.clock.nowMs();
    const attempt = target.call.record.startAttempt(upstream.id, this.#requestedAtMs);
    this.#attempt = attempt;
    return sendRequest(upstream, attempt, this);
  }

  #retryLater(input: FailoverInput<Item>, upstream: Upstream): void {
    const waitMs = firstRetryDelayMs * 2 ** (this.#attemptCount - 2);
    this.startAfter(
      (signal) => this.#deps.clock.sleep(waitMs, signal),
      () => this.#sendRequest(input, upstream),
      (error) => this.fail(error),
    );
  }

  /** Frees the slot that the current attempt occupies at an upstream with `maxParallel`. */
  #vacate(): void {
    const upstream = this.#occupied;
    if (upstream === undefined) return;
    this.#occupied = undefined;
    const { loadBalancer, clock } = this.#deps;
    loadBalancer.vacate(upstream);
    loadBalancer.queue.recordDuration(this.#deploymentId, clock.nowMs() - this.#requestedAtMs);
    // Deferred, so that the outcome of this attempt is recorded first.
    queueMicrotask(() => loadBalancer.queue.startNext(this.#deploymentId));
  }

  #recordSuccess(): void {
    this.#input = undefined;
    this.#error = undefined;
    if (this.#upstream !== undefined) this.#deps.loadBalancer.recordSuccess(this.#upstream, this.#requestedAtMs);
  }

  /** Records the failure of an upstream. Further failures of an upstream in the same call do not count as new failures. */
  #recordFailure(error: UpstreamError, { upstream, input }: { upstream: Upstream; input: FailoverInput<Item> }): void {
    const { loadBalancer, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const caller = error.isBeforeRequest ? undefined : input.target.call.caller.subject;
    if (error.status === 429) loadBalancer.recordRateLimit(upstream, error, nowMs);
    else if (indicatesOutage(error) && !this.#triedIds.has(upstream.id))
      loadBalancer.recordFailure(upstream, { nowMs, caller, message: getOwnMessage(error) });
    else loadBalancer.recordRejection(upstream, error, nowMs);
    this.#triedIds = new Set([...this.#triedIds, upstream.id]);
  }

  #giveUp(input: FailoverInput<Item>): void {
    const [error, upstream] = [this.#error, this.#upstream];
    const hasFailed = error !== undefined && upstream !== undefined;
    this.#sink.fail(
      hasFailed ? toCallerError(error, input.target.deployment.id, upstream) : createUnavailableError(this.#deps, input),
    );
  }
}

/** Returns the message of an error if Parley wrote it. A message of the upstream may quote content. */
function getOwnMessage({ kind, message }: UpstreamError): string | undefined {
  return kind === 'unreachable' || kind === 'timeout' ? message : undefined;
}

/**
 * Returns whether other calls to the upstream would fail too. A malformed reply does not count, because the request itself may
 * cause it.
 */
function indicatesOutage({ kind, status }: UpstreamError): boolean {
  return status === undefined ? kind !== 'broken' : status >= 500;
}

/** `Retry-After` in seconds if only a configuration change can help. */
const misconfiguredRetrySeconds = 60;

/** Returns the outcome of a failed attempt for telemetry. */
function getOutcome(error: unknown): AttemptOutcome {
  if (!(error instanceof UpstreamError)) return 'broken';
  return error.status === 429 ? 'rate_limited' : error.kind;
}

/** Returns the error for a call that no upstream accepts. */
function createUnavailableError(
  { loadBalancer, clock }: FailoverDeps,
  { target: { deployment }, capableUpstreams }: Pick<FailoverInput<unknown>, 'target' | 'capableUpstreams'>,
): ParleyError {
  const upstreams = (capableUpstreams ?? deployment.upstreams).filter(({ weight }) => weight > 0);
  const capability = capableUpstreams === undefined ? '' : ' that can answer this request';
  if (upstreams.length === 0)
    return new ParleyError('upstream_unavailable', `${deployment.id} has no upstream${capability} with a weight above 0.`, {
      retryAfterSeconds: misconfiguredRetrySeconds,
    });
  const nowMs = clock.nowMs();
  const retryAfterSeconds = loadBalancer.getRetryAfterSeconds(upstreams, nowMs);
  const subject = `Every upstream of ${deployment.id}${capability}`;
  const hint = `Try again in ${retryAfterSeconds} s`;
  return loadBalancer.areAllRateLimited(upstreams, nowMs)
    ? new ParleyError('upstream_rate_limited', `${subject} is rate limited. ${hint}.`, { retryAfterSeconds })
    : new ParleyError('upstream_unavailable', `${subject} is failing. ${hint}.`, { retryAfterSeconds });
}

/** Returns whether every role of a caller has the priority `batch`. A batch call starts only when no interactive call waits. */
function isBatchCaller(roles: Configuration['roles'], heldRoles: readonly string[]): boolean {
  const fallback = roles[defaultRole]?.priority;
  const ownRoles = heldRoles.length > 0 ? heldRoles : [defaultRole];
  return ownRoles.every((role) => ((Object.hasOwn(roles, role) ? roles[role]?.priority : undefined) ?? fallback) === 'batch');
}
