import type { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from './callers/caller.ts';
import type { UpstreamErrorKind } from './upstreams/upstream.ts';
import type { UsageDetails } from './usage/usage-details.ts';

/** What kind of call it is; `passthrough` are those of all APIs whose requests go to upstreams as they came. */
export type Operation = 'chat' | 'embeddings' | 'passthrough';

export const operations: readonly Operation[] = ['chat', 'embeddings', 'passthrough'];

/** One value for each operation. */
export function byOperation<Value>(make: (operation: Operation) => Value): Readonly<Record<Operation, Value>> {
  return { chat: make('chat'), embeddings: make('embeddings'), passthrough: make('passthrough') };
}

/** How a call ended: answered; refused for the caller's own fault or limits; failed for ours or an upstream's; left by its caller. */
export type CallOutcome = 'ok' | 'refused' | 'failed' | 'left';

/** How a call ended that nobody left. */
export function toCallOutcome(error: ParleyError | undefined): CallOutcome {
  if (error === undefined) return 'ok';
  return error.status < 500 ? 'refused' : 'failed';
}

/** How one try at an upstream ended. */
export type AttemptOutcome = 'ok' | 'rate_limited' | 'left' | UpstreamErrorKind;

/** All times are milliseconds of one monotonic clock, such as `performance.now()`. */
export interface CallStart {
  readonly operation: Operation;
  /** The route's pattern, such as `/v1/chat/completions`; undefined for a call from inside. Never the path itself. */
  readonly route: string | undefined;
  readonly requestId: string;
  /** The caller's `traceparent` and `tracestate` as they came (hostile), or the `trace` of the call that makes this one. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly atMs: number;
}

export interface CallEnd {
  readonly outcome: CallOutcome;
  /** The HTTP status that was sent, or would have been; 499 if the caller left before it. */
  readonly status: number;
  /** The error that the caller was sent, also inside a stream; its causes go to the log only. */
  readonly error: ParleyError | undefined;
  /** What was used up, counted or estimated; 0 if nothing was. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly atMs: number;
}

/** One try at one upstream. */
export interface AttemptRecord {
  /** To send on with the request. */
  readonly trace: TraceContext;
  /** Once; later ones are ignored. */
  end(outcome: AttemptOutcome, atMs: number): void;
}

/** What is noted of one call while it runs. Nothing here throws, waits, or keeps content. */
export interface CallRecord {
  /** This call's own place in its trace. */
  readonly trace: TraceContext;
  /** Set as soon as it is known. */
  caller: Caller | undefined;
  /** As soon as it is known, found or not. */
  deployment(id: string): void;
  /** The first bytes of a stream leave; not called for an answer that is one JSON text. */
  firstByte(atMs: number): void;
  /** More bytes of the stream leave; once a write, however many events it holds. */
  chunk(atMs: number): void;
  attempt(upstreamId: string, atMs: number): AttemptRecord;
  /** What the call was charged, in billionths of a USD; set before its end. */
  cost: number;
  /** ID of the session or conversation from the client. Set before the call ends. */
  session: string | undefined;
  /** Details that the upstream reported in addition to tokens. Set before the call ends. */
  details: UsageDetails;
  /** Once; later ones are ignored. */
  end(end: CallEnd): void;
}

/** Where calls are measured, traced and logged. */
export interface Telemetry {
  begin(start: CallStart): CallRecord;
}

const noTrace: TraceContext = { traceparent: '00-00000000000000000000000000000001-0000000000000001-00', tracestate: undefined };

const silentAttempt: AttemptRecord = { trace: noTrace, end() {} };

const silentRecord: CallRecord = {
  trace: noTrace,
  caller: undefined,
  deployment() {},
  firstByte() {},
  chunk() {},
  attempt: () => silentAttempt,
  cost: 0,
  session: undefined,
  details: {},
  end() {},
};

/** Notes nothing. */
export const silentTelemetry: Telemetry = { begin: () => ({ ...silentRecord }) };

/** W3C trace context as it came, or made for this call. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}
