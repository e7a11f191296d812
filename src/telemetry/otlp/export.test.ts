import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { begin, createCallEnd, openBench, traceparent } from '#test/telemetry-bench.ts';

interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

/** Receives the exports, like an OpenTelemetry collector. */
let collector: Server;
let received: ReceivedRequest[];
let endpoint: string;

beforeEach(async () => {
  received = [];
  collector = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    received.push({ path: request.url ?? '', headers: request.headers, text: Buffer.concat(parts).toString() });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});

afterEach(() => {
  vi.unstubAllEnvs();
  collector.close().closeAllConnections();
});

/** The exporters read the environment of the process. */
function stub(env: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return env;
}

async function oneCall(env: Record<string, string>) {
  const bench = await openBench({ env: stub(env) });
  const record = begin(bench, { traceparent });
  record.setDeployment('gpt');
  const attempt = record.startAttempt('gpt#up', bench.clock.ms);
  attempt.end('ok', bench.clock.ms + 10);
  record.end(createCallEnd(bench, { promptTokens: 5, atMs: bench.clock.ms + 20 }));
  await bench.telemetry.close();
  return { bench, attempt };
}

describe('the OpenTelemetry export', () => {
  test('sends the metrics and the spans of a call', async () => {
    const { attempt } = await oneCall({
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_SERVICE_NAME: 'gate',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=lab',
    });
    const metrics = received.find(({ path }) => path === '/v1/metrics');
    const traces = received.find(({ path }) => path === '/v1/traces');
    expect(metrics?.headers['x-team']).toBe('lab');
    const names = [...(metrics?.text.matchAll(/"name":"([^"]+)","description"/g) ?? [])].map(([, name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'gen_ai.server.request.duration',
        'gen_ai.client.token.usage',
        'gen_ai.client.operation.duration',
        'http.server.request.duration',
        'parley.upstream.state',
        'process.memory.usage',
      ]),
    );
    expect(metrics?.text).toContain('"explicitBounds":[0.01,');
    const { resourceSpans } = JSON.parse(traces?.text ?? '{}');
    const attributes: Attribute[] = resourceSpans[0].resource.attributes;
    expect(attributes.find(({ key }) => key === 'service.name')?.value.stringValue).toBe('gate');
    const spans = resourceSpans[0].scopeSpans[0].spans;
    expect(spans.map(({ name, kind }: { name: string; kind: number }) => [name, kind])).toEqual([
      ['chat their-model', 3],
      ['chat gpt', 2],
    ]);
    expect(spans[0].parentSpanId).toBe(spans[1].spanId);
    expect(spans[1].parentSpanId).toBe('b7ad6b7169203331');
    expect(attempt.trace.traceparent).toBe(`00-0af7651916cd43dd8448eb211c80319c-${spans[0].spanId}-01`);
  });

  test('sends only the signals that the environment selects', async () => {
    await oneCall({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/own/traces` });
    expect(received.map(({ path }) => path)).toEqual(['/own/traces']);
  });

  test('sends no data if OpenTelemetry is disabled', async () => {
    await oneCall({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' });
    expect(received).toEqual([]);
  });

  test('sends no secret and no content', async () => {
    await oneCall({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(received.map(({ text }) => text).join()).not.toContain('canary');
  });

  test('does not delay calls and can be closed if the collector is unavailable', async () => {
    collector.close();
    const startedMs = performance.now();
    await oneCall({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    expect(performance.now() - startedMs).toBeLessThan(30_000);
  });
});
