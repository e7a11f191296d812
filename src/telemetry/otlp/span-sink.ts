import { type Attributes, type HrTime, type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceParent } from '#base/http/trace-context.ts';
import { filterObjects, isJsonObject, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import type { CallEnd } from '#domain/calls/telemetry.ts';
import type { CallContent } from '#domain/usage/call-content.ts';
import type { CallListener, MeasuredAttempt, MeasuredCall } from '../measured-call.ts';

/** Receives ended spans, such as OpenTelemetry's BatchSpanProcessor. */
export interface SpanProcessor {
  onEnd(span: ReadableSpan): void;
}

export interface SpanSinkOptions {
  readonly processor: SpanProcessor;
  readonly resource: ReadableSpan['resource'];
  /** Returns the milliseconds to add to a time of the call clock to get the time since the epoch. */
  readonly epochOffsetMs: () => number;
}

type SpanFields = Pick<ReadableSpan, 'name' | 'kind' | 'attributes' | 'status'> & {
  readonly span: TraceParent;
  readonly parent: TraceParent | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
};

/** Sends the spans of each sampled call when it ends: one for the call, with a child for each upstream attempt. */
export class SpanSink implements CallListener {
  readonly #options: SpanSinkOptions;

  constructor(options: SpanSinkOptions) {
    this.#options = options;
  }

  callEnded(call: MeasuredCall, end: CallEnd): void {
    if (!call.span.isSampled) return;
    for (let attempt = call.lastAttempt; attempt !== undefined; attempt = attempt.previous)
      this.#send(toAttemptSpan(call, attempt, end.atMs));
    this.#send(toCallSpan(call, end));
  }

  #send({ name, kind, attributes, status, span, parent, startedMs, endedMs }: SpanFields): void {
    const { processor, resource, epochOffsetMs } = this.#options;
    const offsetMs = epochOffsetMs();
    const context = toContext(span);
    processor.onEnd({
      name,
      kind,
      attributes,
      status,
      spanContext: () => context,
      ...(parent && { parentSpanContext: { ...toContext(parent), isRemote: kind === SpanKind.SERVER } }),
      startTime: toHrTime(startedMs + offsetMs),
      endTime: toHrTime(endedMs + offsetMs),
      duration: toHrTime(Math.max(0, endedMs - startedMs)),
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

function toCallSpan(call: MeasuredCall, end: CallEnd): SpanFields {
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

function toAttemptSpan(call: MeasuredCall, attempt: MeasuredAttempt, callEndedMs: number): SpanFields {
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

/** A part of a message as OpenTelemetry's conventions for generative AI define it. */
type Part = { readonly type: string; readonly [field: string]: unknown };

/**
 * Returns `gen_ai.input.messages` and `gen_ai.output.messages` as JSON, because exporters do not support nested attributes. The
 * content is already bounded.
 */
export function toContentAttributes({ request, reply }: CallContent): Attributes {
  const attributes: Attributes = { 'gen_ai.input.messages': JSON.stringify(filterObjects(request.messages).map(toMessage)) };
  if (reply === null) return attributes;
  const output = filterObjects(reply.choices).map(({ message, finish_reason: reason }) => ({
    ...toMessage(toObject(message)),
    finish_reason: reason === 'tool_calls' || reason === 'function_call' ? 'tool_call' : (reason ?? 'error'),
  }));
  return { ...attributes, 'gen_ai.output.messages': JSON.stringify(output) };
}

function toMessage(message: JsonObject): { readonly role: string; readonly parts: readonly Part[] } {
  const { content, reasoning_content: reasoning, refusal, tool_call_id: id } = message;
  const role = typeof message.role === 'string' ? message.role : 'assistant';
  const contentParts = typeof content === 'string' ? toTextParts('text', content) : filterObjects(content).map(toPart);
  if (role === 'tool') {
    const response = typeof content === 'string' ? content : contentParts;
    return { role, parts: [{ type: 'tool_call_response', id, response }] };
  }
  const calls = filterObjects(message.tool_calls).map(toToolCallPart);
  return {
    role: role === 'developer' ? 'system' : role,
    parts: [...toTextParts('reasoning', reasoning), ...contentParts, ...toTextParts('text', refusal), ...calls],
  };
}

function toTextParts(type: 'text' | 'reasoning', content: unknown): readonly Part[] {
  return typeof content === 'string' && content !== '' ? [{ type, content }] : [];
}

function toPart(part: JsonObject): Part {
  const { text, image_url: image } = part;
  const type = typeof part.type === 'string' ? part.type : 'unknown';
  if (type === 'text') return { type, content: text };
  if (type === 'image_url' && isJsonObject(image)) return { type: 'uri', modality: 'image', uri: image.url };
  return { ...part, type };
}

function toToolCallPart({ id, function: functionCall, custom }: JsonObject): Part {
  const { name, arguments: text, input } = isJsonObject(functionCall) ? functionCall : toObject(custom);
  const parsed = typeof text === 'string' ? (tryParseJson(text) ?? text) : input;
  return { type: 'tool_call', id, name, arguments: parsed };
}

/** Returns seconds and the remaining nanoseconds. */
export function toHrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}
