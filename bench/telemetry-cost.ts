/**
 * Measures the telemetry cost of one call: `node bench/telemetry-cost.ts`. Prints the result to stderr. Redirect stdout, which
 * receives the log lines, to /dev/null.
 */

import { metrics as otel } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { pino } from 'pino';
import { Caches } from '#base/cache/bounded-cache.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Telemetry } from '#domain/calls/telemetry.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { openTelemetry } from '#telemetry/node-telemetry.ts';
import { openLog } from '#telemetry/open-log.ts';
import { noopTelemetry } from '#test/noop-telemetry.ts';

const calls = 100_000;
const rounds = 7;
const deployments = Array.from({ length: 50 }, (_, index) => ({
  id: `model-${index}`,
  upstreams: [
    { id: `model-${index}#0a1b2c3d`, protocol: 'openai', model: 'theirs', endpoint: new URL('https://api.example.com/v1') },
  ],
})) as unknown as Deployment[];
const live = { upstreams: () => [], queues: () => [], configurationErrors: () => 0 };
const fromCaller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function callOnce(telemetry: Telemetry, index: number, chunks: number): void {
  const record = telemetry.startCall({
    operation: 'chat',
    route: '/v1/chat/completions',
    requestId: `request-${index}`,
    traceparent: index % 2 === 0 ? fromCaller : undefined,
    tracestate: undefined,
    atMs: performance.now(),
  });
  record.caller = { subject: `key:project-${index % 100}`, project: `project-${index % 100}`, roles: [], chain: null };
  record.setDeployment(`model-${index % 50}`);
  const attempt = record.startAttempt(`model-${index % 50}#0a1b2c3d`, performance.now());
  record.recordFirstByte(performance.now());
  for (let chunk = 0; chunk < chunks; chunk += 1) record.recordChunk(performance.now());
  attempt.end('ok', performance.now());
  record.end({ outcome: 'ok', status: 200, error: undefined, promptTokens: 120, completionTokens: 300, atMs: performance.now() });
}

/** Returns nanoseconds of the best round. */
async function measure(count: number, work: (index: number) => void): Promise<number> {
  for (let index = 0; index < count; index += 1) work(index);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    const started = process.hrtime.bigint();
    for (let index = 0; index < count; index += 1) work(index);
    best = Math.min(best, Number(process.hrtime.bigint() - started) / count);
  }
  return best;
}

function print(what: string, nanoseconds: number): void {
  console.error(`${what.padEnd(62)} ${nanoseconds.toFixed(0).padStart(6)} ns`);
}

async function open(level: 'info' | 'silent'): Promise<Telemetry> {
  const { log, lines } = openLog(level, () => []);
  const telemetry = await openTelemetry({
    caches: new Caches(),
    env: {},
    clock: systemClock,
    log,
    lines,
    live,
    version: '0',
    secret: 'of this bench',
    listeners: [],
  });
  telemetry.configure(deployments);
  return telemetry;
}

const silent = await open('silent');
const logged = await open('info');
const bare = await measure(calls, (index) => callOnce(noopTelemetry, index, 0));
print('the harness itself (arguments, five readings of the clock)', bare);
print('metrics and trace context of one call', (await measure(calls, (index) => callOnce(silent, index, 0))) - bare);
print('metrics, trace context and log line of one call', (await measure(calls, (index) => callOnce(logged, index, 0))) - bare);
const chunk = async (telemetry: Telemetry): Promise<number> =>
  ((await measure(calls / 50, (index) => callOnce(telemetry, index, 100))) -
    (await measure(calls / 50, (index) => callOnce(telemetry, index, 0)))) /
  100;
const clockAndLoop = await chunk(noopTelemetry);
print('reading the clock for one chunk', clockAndLoop);
print('one chunk', (await chunk(silent)) - clockAndLoop);

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const day = 86_400_000;
otel.setGlobalMeterProvider(
  new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: day })] }),
);
const histogram = otel.getMeter('bench').createHistogram('duration');
const labels = (index: number) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': `model-${index % 50}`,
  'parley.outcome': 'ok',
});
print(
  'for comparison: one record of an OpenTelemetry histogram',
  await measure(calls, (index) => histogram.record(1, labels(index))),
);
const logger = pino({ base: null }, pino.destination({ dest: 1, sync: false, minLength: 8_192 }));
const fields = (index: number) => ({
  request_id: `request-${index}`,
  trace_id: fromCaller,
  operation: 'chat',
  route: '/v1/chat/completions',
  project: 'project',
  user: '0123456789ab',
  deployment: 'model',
  upstream: 'model#0a1b2c3d',
  tries: 1,
  status: 200,
  code: null,
  outcome: 'ok',
  stream: true,
  ms: 12.3,
  first_byte_ms: 1.2,
  prompt_tokens: 120,
  completion_tokens: 300,
});
print(
  'for comparison: one line of pino with the same fields',
  await measure(calls, (index) => logger.info(fields(index), 'call')),
);
process.exit();
