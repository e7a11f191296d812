import type { Handle, Sink } from '#base/sink.ts';
import type { ProtocolName } from '#contract/configuration/protocols.ts';
import type { RawFrame } from '#contract/frame.ts';
import type { Target } from '#domain/call.ts';
import type { AttemptRecord } from '#domain/telemetry.ts';
import type { ChatProtocol, Upstream } from '#domain/upstreams/upstream.ts';
import { type FailoverDeps, failover, notServed } from './failover.ts';
import type { PreparedCall } from './prepared-call.ts';

export interface UpstreamDeps extends FailoverDeps {
  readonly protocols: Readonly<Partial<Record<ProtocolName, ChatProtocol>>>;
}

/** Asks the upstreams of the deployment. `own` are header fields that only this call is sent with. */
export function callUpstreams(
  deps: UpstreamDeps,
  { target, request, native, affinity }: PreparedCall,
  sink: Sink<RawFrame>,
  own: Readonly<Record<string, string>> = {},
): Handle {
  const { call, deployment } = target;
  const maxCompletionTokens = deployment.limits?.maxCompletionTokens;
  const ask = (upstream: Upstream, attempt: AttemptRecord, reply: Sink<RawFrame>): Handle => {
    const headers = { ...own, ...sentOn(target, attempt) };
    return protocolOf(deps, upstream).chat({ upstream, request, headers, maxCompletionTokens, ...(native && { native }) }, reply);
  };
  const { subject } = call.caller;
  return failover(deps, { deployment, record: call.record, subject, affinity, secrets: Object.values(own), ask }, sink);
}

/** Header fields that let an upstream's own logs be found from ours. */
export function sentOn({ call }: Target, { trace }: AttemptRecord): Record<string, string> {
  const { traceparent, tracestate } = trace;
  return { 'x-request-id': call.id, traceparent, ...(tracestate !== undefined && { tracestate }) };
}

/** How an upstream is spoken to. Throws if this build has no such protocol. */
export function protocolOf({ protocols }: Pick<UpstreamDeps, 'protocols'>, upstream: Upstream): ChatProtocol {
  const protocol = protocols[upstream.protocol];
  if (protocol !== undefined) return protocol;
  throw notServed(`The protocol ${upstream.protocol} of this deployment is not served by this version of Parley.`);
}
