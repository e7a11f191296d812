import {
  normalizeTracestate,
  parseTraceparent,
  type TraceIds,
  type TraceParent,
  toTraceparent,
} from '#base/http/trace-context.ts';
import type { Tags } from '#contract/tags.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { AttemptOutcome, AttemptRecord, CallEnd, CallRecord, CallStart, TraceContext } from '#domain/calls/telemetry.ts';
import type { ContentSource } from '#domain/usage/call-content.ts';
import type { UsageDetails } from '#domain/usage/usage.ts';
import type { CallSeries, SeriesStore, UpstreamSeries } from './series.ts';

const maxIdChars = 200;

/** Listener for ended calls, such as the log and the span exporter. */
export interface CallListener {
  callEnded(call: MeasuredCall, end: CallEnd): void;
}

/** Settings for trace recording. */
interface TraceDeps {
  readonly ids: TraceIds;
  /** Returns whether to record a trace that starts here. If undefined, every trace is recorded. */
  readonly isSampled: ((traceId: string) => boolean) | undefined;
  /**
   * Whether spans are exported. If not, Parley forwards the client's `traceparent` unchanged, so that no span is missing from its
   * trace.
   */
  readonly hasSpans: boolean;
}

export interface MeasuredCallDeps {
  readonly series: SeriesStore;
  readonly traces: TraceDeps;
  readonly listeners: readonly CallListener[];
  /** Called for calls that failed because of Parley or an upstream. */
  readonly onFailure: CallListener['callEnded'] | undefined;
}

/** Measurements of a call in progress. They hold counters and references, and content only if the configuration records it. */
export class MeasuredCall implements CallRecord {
  readonly deps: MeasuredCallDeps;
  readonly start: CallStart;
  readonly span: TraceParent;
  /** The parent span, if the client sent one. */
  readonly parent: TraceParent | undefined;
  readonly trace: TraceContext;
  caller: Caller | undefined;
  deploymentId: string | undefined;
  series: CallSeries;
  firstByteMs: number | undefined;
  lastAttempt: MeasuredAttempt | undefined;
  attemptCount = 0;
  /** In billionths of a USD. */
  cost = 0;
  session: string | undefined;
  tags: Tags | undefined;
  details: UsageDetails = {};
  isPrivate = false;
  content: ContentSource | undefined;
  #lastByteMs = 0;
  #hasEnded = false;

  constructor(deps: MeasuredCallDeps, start: CallStart) {
    const { ids, isSampled, hasSpans } = deps.traces;
    this.deps = deps;
    this.start = start;
    const parent = start.traceparent === undefined ? undefined : parseTraceparent(start.traceparent);
    this.parent = parent;
    this.span = parent === undefined ? ids.createRoot(isSampled) : hasSpans ? { ...parent, spanId: ids.createSpanId() } : parent;
    const tracestate = parent === undefined ? undefined : normalizeTracestate(start.tracestate);
    this.trace = { traceparent: toTraceparent(this.span), tracestate };
    this.series = deps.series.otherSeries[start.operation];
    this.series.inFlightCalls += 1;
  }

  setDeployment(id: string): void {
    this.deploymentId = id.length > maxIdChars ? id.slice(0, maxIdChars) : id;
    this.series.inFlightCalls -= 1;
    this.series = this.deps.series.getCallSeries(id, this.start.operation);
    this.series.inFlightCalls += 1;
  }

  recordFirstByte(atMs: number): void {
    if (this.firstByteMs !== undefined || this.#hasEnded) return;
    this.firstByteMs = atMs;
    this.#lastByteMs = atMs;
    this.series.openStreams += 1;
    this.series.timeToFirstByte.record((atMs - this.start.atMs) / 1000);
  }

  recordChunk(atMs: number): void {
    this.series.timeBetweenChunks.record((atMs - this.#lastByteMs) / 1000);
    this.#lastByteMs = atMs;
  }

  startAttempt(upstreamId: string, atMs: number): AttemptRecord {
    this.attemptCount += 1;
    this.lastAttempt = new MeasuredAttempt(this, upstreamId, atMs);
    return this.lastAttempt;
  }

  recordQueueWait(ms: number): void {
    this.series.queueWait.record(ms / 1000);
  }

  end(end: CallEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { series, start, firstByteMs } = this;
    const seconds = (end.atMs - start.atMs) / 1000;
    series.inFlightCalls -= 1;
    const hasSucceeded = end.outcome === 'ok' && end.error === undefined;
    (hasSucceeded ? series.okDuration : series.getFailedDuration(end.outcome, end.error?.code)).record(seconds);
    if (start.route !== undefined) this.deps.series.http.get('POST', start.route, end.status).record(seconds);
    if (end.promptTokens > 0) series.inputTokens.record(end.promptTokens);
    if (end.completionTokens > 0) series.outputTokens.record(end.completionTokens);
    if (firstByteMs !== undefined) {
      series.openStreams -= 1;
      if (end.completionTokens > 1)
        series.timePerOutputToken.record((end.atMs - firstByteMs) / 1000 / (end.completionTokens - 1));
    }
    const { spend } = this.deps.series;
    if (spend.maxSeries > 0 && this.cost > 0) spend.add(this.caller?.project ?? '', this.deploymentId ?? '', this.cost);
    for (const listener of this.deps.listeners) listener.callEnded(this, end);
    if (end.error !== undefined && end.error.status >= 500) this.deps.onFailure?.(this, end);
  }
}

/** An upstream attempt in progress, linked to the attempt before it. */
export class MeasuredAttempt implements AttemptRecord {
  readonly span: TraceParent;
  readonly trace: TraceContext;
  readonly upstreamId: string;
  readonly series: UpstreamSeries;
  readonly startedMs: number;
  readonly previous: MeasuredAttempt | undefined;
  outcome: AttemptOutcome | undefined;
  endedMs = 0;
  readonly #call: MeasuredCall;

  constructor(call: MeasuredCall, upstreamId: string, startedMs: number) {
    const { series, traces } = call.deps;
    this.#call = call;
    this.upstreamId = upstreamId;
    this.startedMs = startedMs;
    this.series = series.getUpstreamSeries(upstreamId);
    this.previous = call.lastAttempt;
    this.span = traces.hasSpans ? { ...call.span, spanId: traces.ids.createSpanId() } : call.span;
    this.trace = traces.hasSpans ? { traceparent: toTraceparent(this.span), tracestate: call.trace.tracestate } : call.trace;
  }

  end(outcome: AttemptOutcome, atMs: number): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.endedMs = atMs;
    const { operation } = this.#call.start;
    const series = outcome === 'ok' ? this.series.okDurations[operation] : this.series.getFailedDuration(operation, outcome);
    series.record((atMs - this.startedMs) / 1000);
  }
}
