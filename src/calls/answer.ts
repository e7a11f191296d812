import { Deferred } from '#base/deferred.ts';
import { One } from '#base/one.ts';
import { peek } from '#base/peek.ts';
import { ParleyError } from '#contract/errors.ts';
import type { Frame } from '#contract/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { PerRequestKeys } from '#domain/callers/per-request-keys.ts';
import { filesHandedOn } from '#domain/files/file-references.ts';
import type { TraceContext } from '#domain/trace.ts';
import { type ChatProtocol, type ProtocolName, type Upstream, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { withoutSecrets } from '#domain/upstreams/upstream-error.ts';
import type { Answering } from './answering.ts';
import { type AttemptDeps, attempt } from './attempts.ts';
import { Watched } from './watched.ts';

export interface AnswerDeps extends AttemptDeps {
  readonly protocols: Readonly<Partial<Record<ProtocolName, ChatProtocol>>>;
  readonly perRequestKeys: PerRequestKeys;
}

/** Gives the frames of an admitted call. */
export type Answer = (answering: Answering) => AsyncIterable<Frame>;

/** Answers from the upstreams of the deployment; an application is sent a key of its own, alive as long as the call. */
export function createAnswer(tools: AnswerDeps): Answer {
  return (answering) =>
    answering.deployment.kind === 'application' ? withKey(tools, answering) : new Deferred(fromUpstreams(tools, answering, {}));
}

async function* withKey(tools: AnswerDeps, answering: Answering): AsyncIterable<Frame> {
  const key = await tools.perRequestKeys.issue(toHolder(answering));
  try {
    yield* await fromUpstreams(tools, answering, { 'api-key': key });
  } finally {
    await tools.perRequestKeys.revoke(key);
  }
}

/** Who presents the key: the one who started the chain, further down the path. */
export function toHolder({ call, path, inner, request }: Answering): Caller {
  const { caller } = call;
  return { ...caller, chain: { path, files: filesHandedOn(caller, { request, path }), report: (usage) => inner.add(usage) } };
}

/** The reply, once its first frame is there. What is left then knows nothing of the request: a stream may outlive it by hours. */
function fromUpstreams(
  tools: AnswerDeps,
  answering: Answering,
  headers: Readonly<Record<string, string>>,
): Promise<AsyncIterable<Frame>> {
  const { call, deployment, request, native } = answering;
  const { signal, affinity } = call;
  const maxCompletionTokens = deployment.limits?.maxCompletionTokens;
  const attempting = { deployment, signal, record: call.record, affinity };
  const asking = attempt(tools, attempting, (upstream, { trace }) => {
    const sent = { ...headers, ...sentOn(call.id, trace) };
    const ask = { upstream, request, signal, headers: sent, maxCompletionTokens, ...(native && { native }) };
    return peek(protocolOf(tools, upstream).chat(ask)).catch(clearing(upstream, headers));
  });
  const { clock } = tools;
  return asking.then(({ result, upstream, record }) => {
    if (!(result instanceof One)) return new Watched(result, { record, signal, clock, clear: clearing(upstream, headers) });
    record.end('ok', clock.nowMs());
    return result;
  });
}

/** Throws what an upstream's fault may be told as: it can say back what it was sent. */
function clearing(upstream: Upstream, headers: Readonly<Record<string, string>>): (thrown: unknown) => never {
  return (thrown) => {
    throw thrown instanceof UpstreamFault ? withoutSecrets(thrown, upstream, Object.values(headers)) : thrown;
  };
}

/** Header fields that let an upstream's own logs be found from ours. */
export function sentOn(requestId: string, { traceparent, tracestate }: TraceContext): Record<string, string> {
  return { 'x-request-id': requestId, traceparent, ...(tracestate !== undefined && { tracestate }) };
}

/** How an upstream is spoken to. Throws where this build has no such protocol. */
export function protocolOf({ protocols }: Pick<AnswerDeps, 'protocols'>, upstream: Upstream): ChatProtocol {
  const protocol = protocols[upstream.protocol];
  if (protocol === undefined) {
    throw new ParleyError(
      'upstream_unavailable',
      `The protocol ${upstream.protocol} of this deployment is not served by this version of Parley.`,
    );
  }
  return protocol;
}
