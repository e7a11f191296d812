import type { Handle, Sink } from '#base/sink.ts';
import { ParleyError } from '#contract/errors.ts';
import type { ChatAsk, Target } from '#domain/call.ts';
import { prepareRequest } from '#domain/deployments/prepare-request.ts';
import type { AttemptRecord } from '#domain/telemetry.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { estimateRequestTokens } from '#domain/usage/usage.ts';
import { askUpstreams } from './ask-upstreams.ts';
import { sentOn, type UpstreamDeps } from './call-upstream.ts';

interface Asked extends ChatAsk {
  readonly target: Target;
  readonly signal: AbortSignal;
}

/** Tokens of a request: asked of an upstream that counts in the caller's dialect, else estimated. Nothing is charged. */
export async function countTokens(deps: UpstreamDeps, { target, request: asked, native, signal }: Asked): Promise<number> {
  const { call, deployment } = target;
  const request = prepareRequest(asked, deployment);
  const upstreams = deployment.upstreams.filter((upstream) => deps.protocols[upstream.protocol]?.countTokens !== undefined);
  if (native === undefined || upstreams.length === 0) return estimateRequestTokens(request);
  const attempts = {
    deployment: { ...deployment, upstreams },
    record: call.record,
    caller: call.caller,
    ask(upstream: Upstream, attempt: AttemptRecord, reply: Sink<number>): Handle {
      const { countTokens: count } = deps.protocols[upstream.protocol];
      if (count === undefined) throw new ParleyError('internal_error', 'An upstream that counts no tokens was asked to.');
      return count({ upstream, request, headers: sentOn(target, attempt), native }, reply);
    },
  };
  return askUpstreams(deps, attempts, signal);
}
