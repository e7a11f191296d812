import { LateHandle } from '#base/stream/deferred-handle.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { AttemptOutcome, AttemptRecord, CallRecord } from '#domain/telemetry.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import { isOwnRefusal, toOwnError } from '#domain/upstreams/own-refusal.ts';
import { type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { isRetryable, toCallerError, withoutSecrets } from '#domain/upstreams/upstream-error.ts';
import type { CallAccount } from './call-account.ts';

const firstWaitMs = 50;

export interface FailoverDeps {
  readonly loadBalancer: LoadBalancer;
  readonly clock: Clock;
}

/** What to try: the deployment, the call's record, and how to ask one upstream. */
export interface Attempts<Item> {
  readonly deployment: Deployment;
  readonly record: CallRecord;
  /** Its requests may be to blame for failures. */
  readonly caller: Pick<Caller, 'subject' | 'chain'>;
  readonly affinity?: string | undefined;
  /** Whether Parley refused an inner call of the one who is asked: its failure is then no sign of its health. */
  readonly isExcused?: () => boolean;
  /** Whether the request can be sent again; absent: it always can. */
  readonly mayRepeat?: () => boolean;
  /** Told of each try; absent if nobody is. */
  readonly account?: CallAccount;
  /** Secrets sent with the request besides the upstream's own key: errors of the upstream may echo them. */
  readonly secrets?: readonly string[];
  /** Asks one upstream. Throws UpstreamFault, or pushes it, if there is no reply. */
  readonly ask: (upstream: Upstream, attempt: AttemptRecord, sink: Sink<Item>) => Handle;
}

/**
 * Asks one upstream after the other until one sends a first item: only what fails before that is tried again. The last
 * failure is pushed as the error that the caller may see.
 */
export function failover<Item>(deps: FailoverDeps, attempts: Attempts<Item>, sink: Sink<Item>): Handle {
  const trying = new Failover(deps, attempts, sink);
  trying.next(attempts);
  return trying;
}

const noneTried: ReadonlySet<string> = new Set();

class Failover<Item> extends LateHandle implements Sink<Item> {
  readonly #deps: FailoverDeps;
  readonly #sink: Sink<Item>;
  readonly #secrets: readonly string[];
  /** Dropped with the first item, so that a long stream does not keep the request in memory. */
  #attempts: Attempts<Item> | undefined;
  #attempt: AttemptRecord | undefined;
  #upstream: Upstream | undefined;
  #tries = 0;
  /** When the upstream was asked. */
  #askedAtMs = 0;
  /** Ids of the upstreams that failed, with the last failure. */
  #tried = noneTried;
  #fault: UpstreamFault | undefined;

  constructor(deps: FailoverDeps, attempts: Attempts<Item>, sink: Sink<Item>) {
    super();
    this.#deps = deps;
    this.#sink = sink;
    this.#secrets = attempts.secrets ?? [];
    this.#attempts = attempts;
  }

  /** Asks the next upstream; one that failed before only after a pause. */
  next(attempts: Attempts<Item>): void {
    const { loadBalancer, clock } = this.#deps;
    const { deployment, affinity } = attempts;
    const mayTry = this.#tries < deployment.maxAttempts;
    const tried = this.#tried;
    const upstream = mayTry && loadBalancer.pick(deployment.upstreams, { tried, affinity, nowMs: clock.nowMs(), call: this });
    if (!upstream) return this.#giveUp(attempts);
    this.#tries += 1;
    this.#upstream = upstream;
    if (tried.has(upstream.id)) return this.#askLater(attempts, upstream);
    try {
      this.follow(this.#ask(attempts, upstream));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  frame(item: Item): void {
    if (this.#attempts !== undefined) this.#succeeded();
    this.#sink.frame(item);
  }

  end(): void {
    if (this.#attempts !== undefined) this.#succeeded();
    this.#attempt?.end('ok', this.#deps.clock.nowMs());
    this.#sink.end();
  }

  fail(thrown: unknown): void {
    this.#attempt?.end(outcomeOf(thrown), this.#deps.clock.nowMs());
    const upstream = this.#upstream;
    if (upstream !== undefined) this.#deps.loadBalancer.left(upstream, this);
    if (!(thrown instanceof UpstreamFault) || upstream === undefined) return this.#sink.fail(thrown);
    const fault = withoutSecrets(thrown, upstream, this.#secrets);
    const isRefusal = isOwnRefusal(fault, upstream);
    const attempts = this.#attempts;
    const isExcused = isRefusal || attempts?.isExcused?.() === true;
    if (isExcused) attempts?.caller.chain?.noteRefusal?.();
    if (attempts === undefined) return this.#sink.fail(isRefusal ? toOwnError(fault) : fault);
    this.#fault = fault;
    if (!isExcused) this.#note(fault, { upstream, attempts });
    if (!isExcused && isRetryable(fault) && attempts.mayRepeat?.() !== false) this.next(attempts);
    else this.#giveUp(attempts);
  }

  override cancel(): void {
    this.#attempt?.end('left', this.#deps.clock.nowMs());
    if (this.#upstream !== undefined) this.#deps.loadBalancer.left(this.#upstream, this);
    super.cancel();
  }

  #ask({ ask, record, account }: Attempts<Item>, upstream: Upstream): Handle {
    account?.startAttempt();
    this.#askedAtMs = this.#deps.clock.nowMs();
    const attempt = record.attempt(upstream.id, this.#askedAtMs);
    this.#attempt = attempt;
    return ask(upstream, attempt, this);
  }

  #askLater(attempts: Attempts<Item>, upstream: Upstream): void {
    const waitMs = firstWaitMs * 2 ** (this.#tries - 2);
    this.startAfter(
      (signal) => this.#deps.clock.sleep(waitMs, signal),
      () => this.#ask(attempts, upstream),
      (thrown) => this.fail(thrown),
    );
  }

  #succeeded(): void {
    this.#attempts = undefined;
    this.#fault = undefined;
    if (this.#upstream !== undefined) this.#deps.loadBalancer.succeeded(this.#upstream, this.#askedAtMs);
  }

  /** Remembers the fault of an upstream; further ones of the same call do not count again. */
  #note(fault: UpstreamFault, { upstream, attempts }: { upstream: Upstream; attempts: Attempts<Item> }): void {
    const { loadBalancer, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const caller = fault.isBeforeRequest ? undefined : attempts.caller.subject;
    if (fault.status === 429) loadBalancer.rateLimited(upstream, fault, nowMs);
    else if (isDown(fault) && !this.#tried.has(upstream.id))
      loadBalancer.failed(upstream, { nowMs, caller, message: getOwnMessage(fault) });
    else loadBalancer.refused(upstream, fault, nowMs);
    this.#tried = new Set([...this.#tried, upstream.id]);
  }

  #giveUp({ deployment }: Attempts<Item>): void {
    const [fault, upstream] = [this.#fault, this.#upstream];
    const isTold = fault !== undefined && upstream !== undefined;
    this.#sink.fail(isTold ? toCallerError(fault, deployment.id, upstream) : noneIsOpen(this.#deps, deployment));
  }
}

/** Returns the message of a fault that Parley worded itself. An upstream's own words may quote content. */
function getOwnMessage({ kind, message }: UpstreamFault): string | undefined {
  return kind === 'unreachable' || kind === 'timeout' ? message : undefined;
}

/** Whether other calls would fail there too. A malformed answer does not count: the request itself may cause it. */
function isDown({ kind, status }: UpstreamFault): boolean {
  return status === undefined ? kind !== 'broken' : status >= 500;
}

/** How long callers wait who can do nothing: the configuration has to change. */
const unservedSeconds = 60;

/** The 503 of a deployment that cannot be served as it is configured. */
function notServed(reason: string): ParleyError {
  return new ParleyError('upstream_unavailable', reason, { retryAfterSeconds: unservedSeconds });
}

/** What telemetry notes of an attempt that failed. */
function outcomeOf(thrown: unknown): AttemptOutcome {
  if (!(thrown instanceof UpstreamFault)) return 'broken';
  return thrown.status === 429 ? 'rate_limited' : thrown.kind;
}

function noneIsOpen({ loadBalancer, clock }: FailoverDeps, deployment: Deployment): ParleyError {
  const upstreams = deployment.upstreams.filter(({ weight }) => weight > 0);
  if (upstreams.length === 0) return notServed(`${deployment.id} has no upstream configured that may be asked.`);
  const nowMs = clock.nowMs();
  const retryAfterSeconds = loadBalancer.retryAfterSeconds(upstreams, nowMs);
  const again = `try again in ${retryAfterSeconds} s`;
  return loadBalancer.areRateLimited(upstreams, nowMs)
    ? new ParleyError('upstream_rate_limited', `Every upstream of ${deployment.id} is rate limited; ${again}.`, {
        retryAfterSeconds,
      })
    : new ParleyError('upstream_unavailable', `Every upstream of ${deployment.id} is failing; ${again}.`, { retryAfterSeconds });
}
