import type { ParleyError } from '#contract/errors/errors.ts';
import type { Tags } from '#contract/tags.ts';
import type { Caller } from '../callers/caller.ts';
import type { UpstreamErrorKind } from '../upstreams/upstream.ts';
import type { ContentSource } from '../usage/call-content.ts';
import type { UsageDetails } from '../usage/usage.ts';

/** Kind of a call. `passthrough` covers all APIs whose requests Parley sends to upstreams unchanged. */
export type Operation = 'chat' | 'embeddings' | 'passthrough';

export const operations: readonly Operation[] = ['chat', 'embeddings', 'passthrough'];

/** Returns one value per operation. */
export function byOperation<Value>(create: (operation: Operation) => Value): Readonly<Record<Operation, Value>> {
  return { chat: create('chat'), embeddings: create('embeddings'), passthrough: create('passthrough') };
}

/**
 * Outcome of a call: answered, rejected because of the client or its limits, failed because of Parley or an upstream, or
 * canceled by the client.
 */
export type CallOutcome = 'ok' | 'refused' | 'failed' | 'left';

/** Returns the outcome of a call that the client did not cancel. */
export function toCallOutcome(error: ParleyError | undefined): CallOutcome {
  if (error === undefined) return 'ok';
  return error.status < 500 || error.isClientCaused ? 'refused' : 'failed';
}

/** Outcome of one attempt at an upstream. */
export type AttemptOutcome = 'ok' | 'rate_limited' | 'left' | UpstreamErrorKind;

/** Start of a call. All times are milliseconds of one monotonic clock, such as `performance.now()`. */
export interface CallStart {
  readonly operation: Operation;
  /** Pattern of the route, such as `/v1/chat/completions`, never the path itself. Undefined for an internal call. */
  readonly route: string | undefined;
  readonly requestId: string;
  /** The client's `traceparent` and `tracestate` as received (untrusted), or the `trace` of the parent call. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly atMs: number;
}

export interface CallEnd {
  readonly outcome: CallOutcome;
  /** HTTP status of the response, including one that was not sent. 499 if the client disconnected first. */
  readonly status: number;
  /** Error that the client receives, also inside a stream. Its causes appear only in the log. */
  readonly error: ParleyError | undefined;
  /** Tokens used, counted or estimated. 0 if the call used no tokens. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly atMs: number;
}

/** One attempt at one upstream. */
export interface AttemptRecord {
  /** Trace context to send with the request. */
  readonly trace: TraceContext;
  /** Ends the attempt. Later calls have no effect. */
  end(outcome: AttemptOutcome, atMs: number): void;
}

/** Telemetry of one call in progress. Its methods do not throw or wait. */
export interface CallRecord {
  /** Trace context of this call. */
  readonly trace: TraceContext;
  /** Set when the caller is known. */
  caller: Caller | undefined;
  /** Called when the deployment ID is known, even if the deployment does not exist. */
  setDeployment(id: string): void;
  /** Called when the first bytes of a stream are sent. Not called for a response that is a single JSON body. */
  recordFirstByte(atMs: number): void;
  /** Called for each further write of the stream, regardless of the number of events in it. */
  recordChunk(atMs: number): void;
  startAttempt(upstreamId: string, atMs: number): AttemptRecord;
  /** Called when a wait for a full upstream ends. */
  recordQueueWait(ms: number): void;
  /** Cost that the call was charged, in billionths of a USD. Set before the call ends. */
  cost: number;
  /** ID of the session or conversation from the client. Set before the call ends. */
  session: string | undefined;
  /** Tags of the call, including those of its project. Set before the call ends. */
  tags: Tags | undefined;
  /** Details that the upstream reported in addition to tokens. Set before the call ends. */
  details: UsageDetails;
  /** Whether the content of the call must not be recorded. Inner calls inherit it. Set before the call is answered. */
  isPrivate: boolean;
  /** Content of the call. Undefined unless the configuration records it. */
  content: ContentSource | undefined;
  /** Ends the record. Later calls have no effect. */
  end(end: CallEnd): void;
}

/** Port that measures, traces, and logs calls. */
export interface Telemetry {
  startCall(start: CallStart): CallRecord;
}

/** W3C trace context, received from the client or created for this call. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}
