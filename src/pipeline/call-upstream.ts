import type { JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { type ProtocolName, protocols as traits } from '#contract/configuration/protocols.ts';
import type { ForwardedFields } from '#domain/callers/forwarded-fields.ts';
import type { Target } from '#domain/calls/call.ts';
import type { AttemptRecord } from '#domain/calls/telemetry.ts';
import { findUnsupportedThoughts } from '#domain/upstreams/find-unsupported-thoughts.ts';
import { type Attempt, type ChatProtocol, speaksMessages, speaksResponses, type Upstream } from '#domain/upstreams/upstream.ts';
import { readQuota } from '#upstreams/read-quota.ts';
import type { CallAccount } from './call-account.ts';
import { type FailoverDeps, failover } from './failover.ts';
import type { PreparedCall } from './prepared-call.ts';

/** Dependencies of calls to upstreams. */
export interface UpstreamDeps extends FailoverDeps {
  readonly protocols: Readonly<Record<ProtocolName, ChatProtocol>>;
  readonly onQuotaHeaders: NonNullable<Attempt['onQuotaHeaders']>;
}

/** Values that are sent only to applications and adapters, which may call other deployments. */
export interface ApplicationFields extends ForwardedFields {
  /** Headers that Parley sets, with names in lower case. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  /** Secrets that an error must not reveal. */
  readonly secrets: readonly string[];
  /** Whether headers of the response reach the client. This is false for an application that a user saved. */
  readonly returnsHeaders: boolean;
}

/** Calls the upstreams of a deployment. Only applications and adapters receive `applicationFields`. */
export type CallUpstreams = (preparedCall: PreparedCall, sink: Sink<RawFrame>, applicationFields?: ApplicationFields) => Handle;

/** Returns the function that calls the upstreams of deployments, with failover. */
export function createCallUpstreams(deps: UpstreamDeps): CallUpstreams {
  const { onQuotaHeaders } = deps;
  return ({ target, request, nativeRequest, isTranslated, affinity, account }, sink, applicationFields) => {
    const maxCompletionTokens = target.deployment.limits?.maxCompletionTokens;
    const onIgnored = (fields: readonly string[]): void => account.recordIgnored(fields);
    const sendRequest = (upstream: Upstream, attempt: AttemptRecord, reply: Sink<RawFrame>): Handle => {
      const traceHeaders = toTraceHeaders(target, attempt);
      const attemptFields = buildAttemptFields(upstream, { traceHeaders, applicationFields, account });
      const supported = removeUnsupportedFields({ request, nativeRequest }, upstream, account);
      if (!isRelayed(nativeRequest, upstream)) {
        if (nativeRequest?.translationError !== undefined) throw nativeRequest.translationError;
        const droppedThoughts = findUnsupportedThoughts(request.messages, upstream, nativeRequest !== undefined);
        if (droppedThoughts.length > 0) onIgnored(droppedThoughts);
      }
      const input = { upstream, maxCompletionTokens, isTranslated, onIgnored, onQuotaHeaders, ...attemptFields, ...supported };
      return deps.protocols[upstream.protocol].chat(input, reply);
    };
    const failoverInput = { target, affinity, secrets: applicationFields?.secrets ?? [], account, sendRequest };
    if (nativeRequest?.translationError === undefined) return failover(deps, failoverInput, sink);
    const relayingUpstreams = target.deployment.upstreams.filter((upstream) => isRelayed(nativeRequest, upstream));
    const capableUpstreams = relayingUpstreams.length > 0 ? relayingUpstreams : undefined;
    return failover(deps, { ...failoverInput, capableUpstreams }, sink);
  };
}

/** Returns a function that records the quotas that upstreams report. */
export function createQuotaListener({ loadBalancer, clock }: FailoverDeps): UpstreamDeps['onQuotaHeaders'] {
  return (upstream, headers) => {
    const quota = readQuota(headers, clock.epochMs());
    if (quota !== undefined) loadBalancer.recordQuota(upstream, quota, clock.nowMs());
  };
}

/**
 * Returns both forms of the request without top-level fields that the upstream does not support. Records the removed fields.
 * Returns an unchanged form as the same object.
 */
function removeUnsupportedFields(
  { request, nativeRequest }: Pick<PreparedCall, 'request' | 'nativeRequest'>,
  { unsupportedFields }: Upstream,
  account: CallAccount,
): Pick<Attempt, 'request' | 'nativeRequest'> {
  if (unsupportedFields === undefined) return { request, ...(nativeRequest && { nativeRequest }) };
  const removedFields = unsupportedFields.filter((field) => request[field] !== undefined);
  account.recordIgnored(removedFields);
  const supported = without(request, removedFields);
  if (nativeRequest === undefined) return { request: supported };
  const removedNativeFields = unsupportedFields.filter((field) => nativeRequest.body[field] !== undefined);
  account.recordIgnoredNative(removedNativeFields);
  const body = without(nativeRequest.body, removedNativeFields);
  return { request: supported, nativeRequest: body === nativeRequest.body ? nativeRequest : { ...nativeRequest, body } };
}

/** Returns a copy without these fields, or the same object if there are none. */
function without<Fields extends JsonObject>(fields: Fields, names: readonly string[]): Fields {
  if (names.length === 0) return fields;
  const copy: Record<string, unknown> = { ...fields };
  for (const name of names) delete copy[name];
  return copy as Fields;
}

/** Returns whether the upstream receives the request in the client's dialect. */
function isRelayed(nativeRequest: PreparedCall['nativeRequest'], upstream: Upstream): boolean {
  return nativeRequest?.dialect === 'messages'
    ? speaksMessages(upstream)
    : nativeRequest !== undefined && speaksResponses(upstream);
}

interface HeaderContext {
  readonly traceHeaders: Readonly<Record<string, string>>;
  readonly applicationFields: ApplicationFields | undefined;
  readonly account: CallAccount;
}

/**
 * Returns the headers and query parameters for one upstream. Only applications and adapters receive those of the client. A
 * header that is configured for the upstream replaces the client's.
 */
export function buildAttemptFields(
  upstream: Upstream,
  { traceHeaders, applicationFields, account }: HeaderContext,
): Pick<Attempt, 'headers' | 'query' | 'onHeaders'> {
  if (applicationFields === undefined || !traits[upstream.protocol].callsDeployments) return { headers: traceHeaders };
  const configured = new Set(Object.keys(upstream.headers).map((name) => name.toLowerCase()));
  const clientHeaders = Object.entries(applicationFields.headers).filter(([name]) => !configured.has(name));
  return {
    headers: { ...Object.fromEntries(clientHeaders), ...applicationFields.ownHeaders, ...traceHeaders },
    query: applicationFields.query,
    ...(applicationFields.returnsHeaders && { onHeaders: (headers) => account.setReplyHeaders(headers) }),
  };
}

/** Returns the headers that connect the logs of the upstream and of Parley. */
export function toTraceHeaders({ call }: Target, { trace }: AttemptRecord): Record<string, string> {
  const { traceparent, tracestate } = trace;
  return { 'x-request-id': call.id, traceparent, ...(tracestate !== undefined && { tracestate }) };
}
