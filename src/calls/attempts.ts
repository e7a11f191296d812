import type { Clock } from '#base/clock.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { CallRecord, TryOutcome, TryRecord } from '#domain/telemetry.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import { type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { isRetryable, toCallerError } from '#domain/upstreams/upstream-error.ts';

const firstWaitMs = 50;

export interface AttemptDeps {
  readonly loadBalancer: LoadBalancer;
  readonly clock: Clock;
}

/** One call's way through the upstreams of its deployment. */
export interface Attempting {
  readonly deployment: Deployment;
  readonly signal: AbortSignal;
  readonly record: CallRecord;
  readonly affinity?: string | undefined;
}

interface Attempted<Result> {
  readonly result: Result;
  readonly upstream: Upstream;
  /** Of the try that succeeded; still open. */
  readonly record: TryRecord;
}

interface Blamed {
  readonly fault: UpstreamFault;
  readonly upstream: Upstream;
}

/**
 * Asks one upstream after the other until one gives a first result (contract 5): only what came before the first
 * frame is tried again. Throws what the caller is told.
 */
export async function attempt<Result>(
  tools: AttemptDeps,
  attempting: Attempting,
  ask: (upstream: Upstream, record: TryRecord) => Promise<Result>,
): Promise<Attempted<Result>> {
  const { deployment, signal, record, affinity } = attempting;
  const failed = new Set<string>();
  let last: Blamed | undefined;
  for (let tries = 0; tries < deployment.maxAttempts; tries += 1) {
    const upstream = tools.loadBalancer.pick(deployment.upstreams, { tried: failed, affinity, nowMs: tools.clock.nowMs() });
    if (upstream === undefined) break;
    if (failed.has(upstream.id)) await tools.clock.sleep(firstWaitMs * 2 ** (tries - 1), signal);
    const tryRecord = record.upstreamTry(upstream.id, tools.clock.nowMs());
    try {
      const result = await ask(upstream, tryRecord);
      tools.loadBalancer.succeeded(upstream);
      return { result, upstream, record: tryRecord };
    } catch (thrown) {
      tryRecord.end(signal.aborted ? 'left' : outcomeOf(thrown), tools.clock.nowMs());
      if (signal.aborted || !(thrown instanceof UpstreamFault)) throw thrown;
      last = { fault: thrown, upstream };
      noteFault(tools, last, failed);
      if (!isRetryable(thrown)) break;
    }
  }
  throw last === undefined ? noneIsOpen(tools, deployment) : toCallerError(last.fault, deployment.id, last.upstream);
}

/** Remembers the fault of an upstream; further ones of the same call do not count again. */
function noteFault(tools: AttemptDeps, { fault, upstream }: Blamed, failed: Set<string>): void {
  const nowMs = tools.clock.nowMs();
  if (fault.status === 429) tools.loadBalancer.rateLimited(upstream, fault, nowMs);
  else if (isDown(fault) && !failed.has(upstream.id)) tools.loadBalancer.failed(upstream, nowMs);
  failed.add(upstream.id);
}

/** Whether the upstream is down for others too. An answer that makes no sense may come of the question: it tells nothing of them. */
function isDown({ kind, status }: UpstreamFault): boolean {
  return status === undefined ? kind !== 'broken' : status >= 500;
}

/** What telemetry is told of a try that threw. */
export function outcomeOf(thrown: unknown): TryOutcome {
  if (!(thrown instanceof UpstreamFault)) return 'broken';
  return thrown.status === 429 ? 'rate_limited' : thrown.kind;
}

function noneIsOpen({ loadBalancer, clock }: AttemptDeps, deployment: Deployment): ParleyError {
  if (deployment.upstreams.length === 0)
    return new ParleyError('upstream_unavailable', `${deployment.id} has no upstream configured.`);
  const nowMs = clock.nowMs();
  const retryAfterSeconds = loadBalancer.retryAfterSeconds(deployment.upstreams, nowMs);
  const again = `try again in ${retryAfterSeconds} s`;
  return loadBalancer.areRateLimited(deployment.upstreams, nowMs)
    ? new ParleyError('upstream_rate_limited', `Every upstream of ${deployment.id} is rate limited; ${again}.`, {
        retryAfterSeconds,
      })
    : new ParleyError('upstream_unavailable', `Every upstream of ${deployment.id} is failing; ${again}.`, { retryAfterSeconds });
}
