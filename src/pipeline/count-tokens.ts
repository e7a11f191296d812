import type { Handle, Sink } from '#base/stream/sink.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ChatInput, Target } from '#domain/calls/call.ts';
import type { AttemptRecord } from '#domain/calls/telemetry.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import { type Upstream, UpstreamError } from '#domain/upstreams/upstream.ts';
import { estimateRequestTokens } from '#domain/usage/usage.ts';
import { toTraceHeaders, type UpstreamDeps } from './call-upstream.ts';
import { fetchFromUpstreams } from './failover.ts';

/** Statuses of an upstream that does not count tokens. */
const unsupportedStatuses: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

interface CountInput extends ChatInput {
  readonly target: Target;
  readonly signal: AbortSignal;
}

/**
 * Returns the number of tokens of a request. An upstream of the client's dialect counts them. If there is no such upstream, or
 * it does not count tokens, they are estimated. Counting is free.
 */
export async function countTokens(
  deps: UpstreamDeps,
  { target, request: clientRequest, nativeRequest, signal }: CountInput,
): Promise<number> {
  const { deployment } = target;
  const request = prepareRequest(clientRequest, deployment);
  const upstreams = deployment.upstreams.filter((upstream) => deps.protocols[upstream.protocol]?.countTokens !== undefined);
  if (nativeRequest === undefined || upstreams.length === 0) return estimateRequestTokens(request);
  const failoverInput = {
    target: { ...target, deployment: { ...deployment, upstreams } },
    sendRequest(upstream: Upstream, attempt: AttemptRecord, reply: Sink<number>): Handle {
      const { countTokens: count } = deps.protocols[upstream.protocol];
      if (count === undefined) throw new ParleyError('internal_error', 'The upstream does not support token counting.');
      const estimate = (): number => estimateRequestTokens(request);
      return count({ upstream, request, headers: toTraceHeaders(target, attempt), nativeRequest }, withEstimate(reply, estimate));
    },
  };
  return fetchFromUpstreams(deps, failoverInput, signal);
}

/** Passes a count on. Replaces the error of an upstream that does not count tokens with an estimate. */
function withEstimate(next: Sink<number>, estimate: () => number): Sink<number> {
  return {
    push: (count) => next.push(count),
    end: () => next.end(),
    fail(error) {
      if (!(error instanceof UpstreamError) || !unsupportedStatuses.has(error.status)) return next.fail(error);
      next.push(estimate());
      next.end();
    },
  };
}
