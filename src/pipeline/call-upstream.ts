import type { JsonObject } from '#base/json/json.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { type ProtocolName, protocols as traits } from '#contract/configuration/protocols.ts';
import type { Target } from '#domain/call.ts';
import type { ForwardedFields } from '#domain/callers/forwarded-fields.ts';
import type { AttemptRecord } from '#domain/telemetry.ts';
import { findUnsupportedThoughts } from '#domain/upstreams/find-unsupported-thoughts.ts';
import {
  type Attempt,
  type ChatProtocol,
  type NativeRequest,
  speaksMessages,
  speaksResponses,
  type Upstream,
} from '#domain/upstreams/upstream.ts';
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
  readonly returnsFields: boolean;
}

/** Calls the upstreams of a deployment. Only applications and adapters receive `applicationFields`. */
export type CallUpstreams = (prepared: PreparedCall, sink: Sink<RawFrame>, applicationFields?: ApplicationFields) => Handle;

/** Returns the function that calls the upstreams of deployments, with failover. */
export function createCallUpstreams(deps: UpstreamDeps): CallUpstreams {
  const { onQuotaHeaders } = deps;
  return ({ target, request, native, isTranslated, affinity, account }, sink, applicationFields) => {
    const maxCompletionTokens = target.deployment.limits?.maxCompletionTokens;
    const onIgnored = (fields: readonly string[]): void => account.recordIgnored(fields);
    const sendRequest = (upstream: Upstream, attempt: AttemptRecord, reply: Sink<RawFrame>): Handle => {
      const sent = buildAttemptFields(upstream, { common: toTraceHeaders(target, attempt), applicationFields, account });
      const supported = toSupported({ request, native }, upstream, account);
      if (!isRelayed(native, upstream)) {
        if (native?.translationError !== undefined) throw native.translationError;
        const droppedThoughts = findUnsupportedThoughts(request.messages, upstream, native !== undefined);
        if (droppedThoughts.length > 0) onIgnored(droppedThoughts);
      }
      const input = { upstream, maxCompletionTokens, isTranslated, onIgnored, onQuotaHeaders, ...sent, ...supported };
      return deps.protocols[upstream.protocol].chat(input, reply);
    };
    const attempts = { target, affinity, secrets: applicationFields?.secrets ?? [], account, sendRequest };
    if (native?.translationError === undefined) return failover(deps, attempts, sink);
    const relaying = target.deployment.upstreams.filter((upstream) => isRelayed(native, upstream));
    return failover(deps, { ...attempts, capableUpstreams: relaying.length > 0 ? relaying : undefined }, sink);
  };
}

/** Returns a function that records the quotas that upstreams report. */
export function createQuotaListener({ loadBalancer, clock }: FailoverDeps): UpstreamDeps['onQuotaHeaders'] {
  return (upstream, headers) => {
    const quota = readQuota(headers, clock.epochMs());
    if (quota !== undefined) loadBalancer.recordQuota(upstream, quota, clock.nowMs());
  };
}

/** Returns the request as the upstream supports it, and records the removed fields. */
function toSupported(
  { request, native }: UpstreamRequest,
  upstream: Upstream,
  account: CallAccount,
): Pick<Attempt, 'request' | 'native'> {
  const { unsupportedFields } = upstream;
  if (unsupportedFields === undefined) return { request, ...(native && { native }) };
  const supported = withoutUnsupported({ request, native }, unsupportedFields);
  account.recordIgnored(supported.removedFields);
  account.recordIgnoredNative(supported.removedNativeFields);
  return { request: supported.request, ...(supported.native && { native: supported.native }) };
}

/** Returns whether the upstream receives the request in the client's dialect. */
function isRelayed(native: PreparedCall['native'], upstream: Upstream): boolean {
  return native?.dialect === 'messages' ? speaksMessages(upstream) : native !== undefined && speaksResponses(upstream);
}

interface HeaderContext {
  readonly common: Readonly<Record<string, string>>;
  readonly applicationFields: ApplicationFields | undefined;
  readonly account: CallAccount;
}

/**
 * Returns the headers and query parameters for one upstream. Only applications and adapters receive those of the client. A
 * header that is configured for the upstream replaces the client's.
 */
export function buildAttemptFields(
  upstream: Upstream,
  { common, applicationFields, account }: HeaderContext,
): Pick<Attempt, 'headers' | 'query' | 'onHeaders'> {
  if (applicationFields === undefined || !traits[upstream.protocol].callsDeployments) return { headers: common };
  const configured = new Set(Object.keys(upstream.headers).map((name) => name.toLowerCase()));
  const clientHeaders = Object.entries(applicationFields.headers).filter(([name]) => !configured.has(name));
  return {
    headers: { ...Object.fromEntries(clientHeaders), ...applicationFields.ownHeaders, ...common },
    query: applicationFields.query,
    ...(applicationFields.returnsFields && { onHeaders: (headers) => account.setReplyHeaders(headers) }),
  };
}

/** Returns the headers that connect the logs of the upstream and of Parley. */
export function toTraceHeaders({ call }: Target, { trace }: AttemptRecord): Record<string, string> {
  const { traceparent, tracestate } = trace;
  return { 'x-request-id': call.id, traceparent, ...(tracestate !== undefined && { tracestate }) };
}

/** A request in the form for one upstream. */
interface UpstreamRequest {
  readonly request: ChatRequest;
  readonly native: NativeRequest | undefined;
}

/** A request without the fields that an upstream does not support, and the names of the removed fields. */
interface SupportedRequest extends UpstreamRequest {
  readonly removedFields: readonly string[];
  /** Removed fields of the request in the client's own dialect. */
  readonly removedNativeFields: readonly string[];
}

/**
 * Returns the request without top-level fields that the upstream does not support. Removes them from both forms of the request.
 */
function withoutUnsupported({ request, native }: UpstreamRequest, fields: readonly string[]): SupportedRequest {
  const removedFields = fields.filter((field) => request[field] !== undefined);
  const removedNativeFields = native === undefined ? [] : fields.filter((field) => native.body[field] !== undefined);
  return {
    request: removedFields.length === 0 ? request : (without(request, removedFields) as ChatRequest),
    native:
      native === undefined || removedNativeFields.length === 0
        ? native
        : { ...native, body: without(native.body, removedNativeFields) },
    removedFields,
    removedNativeFields,
  };
}

/** Returns a copy without these fields. It preserves the order and the values of the other fields. */
function without(fields: JsonObject, names: readonly string[]): JsonObject {
  const copy = { ...fields };
  for (const name of names) delete copy[name];
  return copy;
}
