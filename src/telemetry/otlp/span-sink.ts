import { type Attributes, type HrTime, type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceParent } from '#base/http/trace-context.ts';
import type { CallEnd } from '#domain/telemetry.ts';
import type { CallListener, MeasuredAttempt, MeasuredCall } from '../measured-call.ts';
import { toContentAttributes } from './to-content-attributes.ts';
import { toHrTime } from './to-metric-data.ts';

/** Receives finished spans, such as OpenTelemetry's BatchSpanProcessor. */
export interface SpanTaker {
  onEnd(span: ReadableSpan): void;
}

export interface SpanSinkOptions {
  readonly taker: SpanTaker;
  readonly resource: ReadableSpan['resource'];
  /** Returns the milliseconds to add to a time of the call clock to get the time since the epoch. */
  readonly epochOffsetMs: () => number;
}

type SpanFacts = Pick<ReadableSpan, 'name' | 'kind' | 'attributes' | 'status'> & {
  readonly span: TraceParent;
  readonly parent: TraceParent | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
};

/** Creates the spans of an ended call: one for the call, with a child for each upstream attempt. */
export class SpanSink implements CallListener {
  readonly #options: SpanSinkOptions;

  constructor(options: SpanSinkOptions) {
    this.#options = options;
  }

  callEnded(call: MeasuredCall, end: CallEnd): void {
    if (!call.span.isSampled) return;
    for (let attempt = call.lastAttempt; attempt !== undefined; attempt = attempt.previous)
      this.#give(toTryFacts(call, attempt, end.atMs));
    this.#give(toCallFacts(call, end));
  }

  #give({ name, kind, attributes, status, span, parent, startedMs, endedMs }: SpanFacts): void {
    const { taker, resource, epochOffsetMs } = this.#options;
    const offsetMs = epochOffsetMs();
    const context = toContext(span);
    taker.onEnd({
      name,
      kind,
      attributes,
      status,
      spanContext: () => context,
      ...(parent && { parentSpanContext: { ...toContext(parent), isRemote: kind === SpanKind.SERVER } }),
      startTime: toHrTime(startedMs + offsetMs),
      endTime: toHrTime(endedMs + offsetMs),
      duration: toHrTime(Math.max(0, endedMs - startedMs)) as HrTime,
      ended: true,
      links: [],
      events: [],
      resource,
      instrumentationScope: { name: 'parley' },
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    });
  }
}

function toCallFacts(call: MeasuredCall, end: CallEnd): SpanFacts {
  const { start, series, deploymentId } = call;
  const isFailed = end.error !== undefined && end.error.status >= 500;
  const attributes: Attributes = {
    ...series.attributes,
    'parley.request_id': start.requestId,
    'parley.outcome': end.outcome,
    'gen_ai.usage.input_tokens': end.promptTokens,
    'gen_ai.usage.output_tokens': end.completionTokens,
    'gen_ai.request.stream': call.firstByteMs !== undefined,
  };
  if (deploymentId !== undefined) attributes['gen_ai.request.model'] = deploymentId;
  if (call.session !== undefined) attributes['gen_ai.conversation.id'] = call.session;
  if (call.firstByteMs !== undefined) attributes['gen_ai.response.time_to_first_chunk'] = (call.firstByteMs - start.atMs) / 1000;
  if (end.error !== undefined) attributes['error.type'] = end.error.code;
  if (call.content !== undefined) Object.assign(attributes, toContentAttributes(call.content.toContent()));
  if (start.route !== undefined) {
    attributes['http.request.method'] = 'POST';
    attributes['http.route'] = start.route;
    attributes['http.response.status_code'] = end.status;
  }
  return {
    name: `${start.operation} ${deploymentId ?? 'unknown'}`,
    kind: start.route === undefined ? SpanKind.INTERNAL : SpanKind.SERVER,
    attributes,
    status: { code: isFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    span: call.span,
    parent: call.parent,
    startedMs: start.atMs,
    endedMs: end.atMs,
  };
}

function toTryFacts(call: MeasuredCall, attempt: MeasuredAttempt, callEndedMs: number): SpanFacts {
  const outcome = attempt.outcome ?? 'left';
  return {
    name: `${call.start.operation} ${attempt.series.attributes['gen_ai.request.model']}`,
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': call.start.operation,
      ...attempt.series.attributes,
      ...(outcome !== 'ok' && { 'error.type': outcome }),
    },
    status: { code: outcome === 'ok' || outcome === 'left' ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    span: attempt.span,
    parent: call.span,
    startedMs: attempt.startedMs,
    endedMs: attempt.outcome === undefined ? callEndedMs : attempt.endedMs,
  };
}

function toContext({ traceId, spanId, isSampled }: TraceParent): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}
