import { randomFillSync } from 'node:crypto';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { TraceIds } from '#base/http/trace-context.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { begin, openBench, traceparent } from '#test/telemetry-bench.ts';
import { MeasuredCall } from '../measured-call.ts';
import { SeriesStore } from '../series.ts';
import { type SpanProcessor, SpanSink, toContentAttributes } from './span-sink.ts';

type Span = Parameters<SpanProcessor['onEnd']>[0];

const traceId = '0af7651916cd43dd8448eb211c80319c';
const clientSpanId = 'b7ad6b7169203331';

function openSpans(isSampled = () => true) {
  const spans: Span[] = [];
  const resource = { attributes: {} } as never;
  const sink = new SpanSink({ processor: { onEnd: (span) => void spans.push(span) }, resource, epochOffsetMs: () => 1_000_000 });
  const ids = new TraceIds((bytes) => void randomFillSync(bytes));
  const onFailure = undefined;
  const deps = { series: new SeriesStore(), listeners: [sink], onFailure, traces: { ids, isSampled, hasSpans: true } };
  const start = (traceparent: string, from: 'outside' | 'inside' = 'outside') =>
    new MeasuredCall(deps, {
      operation: 'chat',
      route: from === 'outside' ? '/v1/chat/completions' : undefined,
      requestId: 'r',
      traceparent,
      tracestate: 'a=1',
      atMs: 500,
    });
  return { spans, start };
}

const end = { outcome: 'ok', status: 200, error: undefined, promptTokens: 3, completionTokens: 4, atMs: 900 } as const;

describe('the spans of a call', () => {
  test('are one for the call and a child for each attempt', () => {
    const { spans, start } = openSpans();
    const call = start(traceparent);
    call.setDeployment('gpt');
    call.session = 'session-1';
    const first = call.startAttempt('a', 510);
    first.end('timeout', 600);
    const second = call.startAttempt('b', 610);
    second.end('ok', 890);
    call.end(end);
    const [b, a, server] = spans as [Span, Span, Span];
    expect(server).toMatchObject({
      name: 'chat gpt',
      kind: SpanKind.SERVER,
      parentSpanContext: { traceId, spanId: clientSpanId, isRemote: true },
    });
    expect(server.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt',
      'gen_ai.conversation.id': 'session-1',
      'gen_ai.usage.input_tokens': 3,
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
    });
    expect(server.startTime).toEqual([1000, 500_000_000]);
    expect(server.duration).toEqual([0, 400_000_000]);
    for (const span of [a, b]) {
      expect(span).toMatchObject({ kind: SpanKind.CLIENT, parentSpanContext: { traceId, spanId: server.spanContext().spanId } });
    }
    expect(a.status.code).toBe(SpanStatusCode.ERROR);
    expect(a.attributes['error.type']).toBe('timeout');
    expect(b.status.code).toBe(SpanStatusCode.UNSET);
    expect(new Set([server, a, b].map((span) => span.spanContext().spanId)).size).toBe(3);
  });

  test("give each upstream the span of its attempt as the parent, and the client's trace state", () => {
    const { spans, start } = openSpans();
    const call = start(traceparent);
    const attempt = call.startAttempt('a', 510);
    expect(attempt.trace).toEqual({ traceparent: expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`), tracestate: 'a=1' });
    call.end(end);
    expect(attempt.trace.traceparent).toContain(spans[0]?.spanContext().spanId);
  });

  test('include an attempt that was never ended', () => {
    const { spans, start } = openSpans();
    const call = start(traceparent);
    call.startAttempt('a', 510);
    call.end({ ...end, outcome: 'left', status: 499 });
    expect(spans[0]?.attributes['error.type']).toBe('left');
    expect(spans[0]?.duration).toEqual([0, 390_000_000]);
  });

  test('have an error status for our failures, not for rejected requests', () => {
    const { spans, start } = openSpans();
    start(traceparent).end({ ...end, outcome: 'refused', status: 403, error: new ParleyError('access_denied', 'No.') });
    start(traceparent).end({ ...end, outcome: 'failed', status: 500, error: new ParleyError('internal_error', 'No.') });
    expect(spans.map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.ERROR]);
    expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(['access_denied', 'internal_error']);
  });

  test('do not have the kind server if it is an inner call', () => {
    const { spans, start } = openSpans();
    start(traceparent, 'inside').end(end);
    expect(spans[0]?.kind).toBe(SpanKind.INTERNAL);
  });
});

describe('sampling', () => {
  test('follows the decision of the client', () => {
    const { spans, start } = openSpans();
    const call = start(traceparent.replace(/01$/, '00'));
    expect(call.trace.traceparent).toMatch(/-00$/);
    call.end(end);
    expect(spans).toEqual([]);
  });

  test('is decided by the ratio if the client sends no trace', () => {
    const { spans, start } = openSpans(() => false);
    const call = start('malformed');
    expect(call.trace.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(call.trace.tracestate).toBeUndefined();
    call.end(end);
    expect(spans).toEqual([]);
  });
});

describe('tracing without a collector', () => {
  test('passes a trace on unchanged', async () => {
    const bench = await openBench();
    const record = begin(bench, { traceparent, tracestate: 'vendor=1' });
    expect(record.trace).toEqual({ traceparent, tracestate: 'vendor=1' });
    expect(record.startAttempt('gpt#up', 0).trace).toEqual({ traceparent, tracestate: 'vendor=1' });
  });

  test('starts a trace for a call without one', async () => {
    const bench = await openBench();
    const [first, second] = [begin(bench), begin(bench, { traceparent: 'nonsense', tracestate: 'a=1' })];
    expect(first.trace.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(second.trace.traceparent).not.toBe(first.trace.traceparent);
    expect(second.trace.tracestate).toBeUndefined();
  });
});

test('toContentAttributes accepts values that cannot become text', () => {
  const odd = { toString: 1 };
  const message = { role: odd, content: [{ type: 'text', text: odd }, { type: odd }] };
  const attributes = toContentAttributes({
    request: { messages: [message] },
    reply: { choices: [{ message, finish_reason: odd }] },
    isTruncated: false,
  });
  const parts = [{ type: 'text', content: odd }, { type: 'unknown' }];
  expect(JSON.parse(String(attributes['gen_ai.input.messages']))).toEqual([{ role: 'assistant', parts }]);
  expect(JSON.parse(String(attributes['gen_ai.output.messages']))).toEqual([{ role: 'assistant', parts, finish_reason: odd }]);
});
