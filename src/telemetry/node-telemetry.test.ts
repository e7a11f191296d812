import { describe, expect, test } from 'vitest';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { readPrometheus, readValue } from '#test/prometheus-samples.ts';
import { begin, createCallEnd, deployment, openBench } from '#test/telemetry-bench.ts';
import { chooseMetricsFormat } from './prometheus-text.ts';

const gpt = { gen_ai_request_model: 'gpt', gen_ai_operation_name: 'chat' };

describe('call metrics', () => {
  test('record duration, tokens, and times under the names of OpenTelemetry', async () => {
    const bench = await openBench();
    const record = begin(bench);
    record.setDeployment('gpt');
    const attempt = record.startAttempt('gpt#up', bench.clock.ms);
    bench.clock.ms += 30;
    record.recordFirstByte(bench.clock.ms);
    bench.clock.ms += 20;
    record.recordChunk(bench.clock.ms);
    bench.clock.ms += 50;
    attempt.end('ok', bench.clock.ms);
    record.end(createCallEnd(bench, { promptTokens: 100, completionTokens: 11 }));
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    expect(readValue(samples, 'gen_ai_server_request_duration_seconds_count', { ...gpt, parley_outcome: 'ok' })).toBe(1);
    expect(readValue(samples, 'gen_ai_server_request_duration_seconds_sum', gpt)).toBeCloseTo(0.1);
    expect(readValue(samples, 'gen_ai_server_time_to_first_token_seconds_sum', gpt)).toBeCloseTo(0.03);
    expect(readValue(samples, 'gen_ai_server_time_to_first_token_seconds_bucket', { ...gpt, le: '0.02' })).toBe(0);
    expect(readValue(samples, 'gen_ai_server_time_to_first_token_seconds_bucket', { ...gpt, le: '0.04' })).toBe(1);
    expect(readValue(samples, 'parley_stream_time_between_chunks_seconds_sum', gpt)).toBeCloseTo(0.02);
    expect(readValue(samples, 'gen_ai_server_time_per_output_token_seconds_sum', gpt)).toBeCloseTo(0.007);
    expect(readValue(samples, 'gen_ai_client_token_usage_sum', { ...gpt, gen_ai_token_type: 'input' })).toBe(100);
    expect(readValue(samples, 'gen_ai_client_token_usage_sum', { ...gpt, gen_ai_token_type: 'output' })).toBe(11);
    expect(
      readValue(samples, 'http_server_request_duration_seconds_count', {
        http_route: '/v1/chat/completions',
        http_response_status_code: '200',
      }),
    ).toBe(1);
  });

  test('have the spend by project and deployment, within the configured number of series', async () => {
    const bench = await openBench();
    const spend = (project: string, id: string): void => {
      const record = begin(bench);
      record.caller = { project, subject: 'ada' } as Caller;
      record.setDeployment(id);
      record.cost = 500_000_000;
      record.end(createCallEnd(bench));
    };
    spend('lab', 'gpt');
    expect(bench.telemetry.toPrometheus()).not.toContain('parley_spend');
    bench.telemetry.configure([deployment('gpt')], 2);
    for (const id of ['gpt', 'gpt', 'b', 'c', 'd']) spend('lab', id);
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    const read = (project: string, model: string) =>
      readValue(samples, 'parley_spend_usd_total', { parley_project: project, gen_ai_request_model: model });
    expect([read('lab', 'gpt'), read('lab', 'b'), read('lab', 'c')]).toEqual([1, 0.5, undefined]);
    expect(read('_OTHER', '_OTHER')).toBe(1);
  });

  test('count each upstream attempt with its outcome', async () => {
    const bench = await openBench();
    const record = begin(bench);
    record.setDeployment('gpt');
    record.startAttempt('gpt#up', bench.clock.ms).end('rate_limited', bench.clock.ms);
    const second = record.startAttempt('gpt#up', bench.clock.ms);
    second.end('ok', bench.clock.ms + 5);
    second.end('broken', bench.clock.ms + 9);
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    const upstream = { parley_upstream: 'gpt#up' };
    expect(readValue(samples, 'parley_upstream_tries_total', { ...upstream, parley_outcome: 'ok' })).toBe(1);
    expect(readValue(samples, 'parley_upstream_tries_total', { ...upstream, parley_outcome: 'rate_limited' })).toBe(1);
    expect(readValue(samples, 'parley_upstream_tries_total', { ...upstream, parley_outcome: 'broken' })).toBeUndefined();
    expect(
      readValue(samples, 'gen_ai_client_operation_duration_seconds_count', {
        ...upstream,
        gen_ai_provider_name: 'openai',
        server_address: 'api.example.com',
        error_type: 'rate_limited',
      }),
    ).toBe(1);
  });

  test('have the code of a failure as a label', async () => {
    const bench = await openBench();
    const record = begin(bench);
    record.setDeployment('gpt');
    record.end(createCallEnd(bench, { outcome: 'failed', status: 500, error: new ParleyError('upstream_failed', 'It broke.') }));
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    const labels = { ...gpt, parley_outcome: 'failed', error_type: 'upstream_failed' };
    expect(readValue(samples, 'gen_ai_server_request_duration_seconds_count', labels)).toBe(1);
  });

  test('count a call once, even if its end is reported twice', async () => {
    const bench = await openBench();
    const record = begin(bench);
    record.setDeployment('gpt');
    record.end(createCallEnd(bench));
    record.end(createCallEnd(bench));
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    expect(readValue(samples, 'gen_ai_server_request_duration_seconds_count', gpt)).toBe(1);
    expect(readValue(samples, 'parley_open_calls', gpt)).toBe(0);
  });

  test('show calls and streams while they are open', async () => {
    const bench = await openBench();
    const [first, second] = [begin(bench), begin(bench)];
    first.setDeployment('gpt');
    second.setDeployment('gpt');
    first.recordFirstByte(bench.clock.ms);
    const open = readPrometheus(bench.telemetry.toPrometheus());
    expect(readValue(open, 'parley_open_calls', gpt)).toBe(2);
    expect(readValue(open, 'parley_open_streams', gpt)).toBe(1);
    first.end(createCallEnd(bench, { outcome: 'left' }));
    const after = readPrometheus(bench.telemetry.toPrometheus());
    expect(readValue(after, 'parley_open_calls', gpt)).toBe(1);
    expect(readValue(after, 'parley_open_streams', gpt)).toBe(0);
  });
});

describe('node metrics', () => {
  test('show the state of upstreams, configuration errors, memory, and the event loop', async () => {
    const { telemetry } = await openBench();
    const samples = readPrometheus(telemetry.toPrometheus());
    expect(readValue(samples, 'parley_upstream_state', { parley_upstream: 'gpt#up' })).toBe(1);
    expect(readValue(samples, 'parley_configuration_faults')).toBe(2);
    expect(readValue(samples, 'process_memory_usage_bytes')).toBeGreaterThan(1e6);
    expect(readValue(samples, 'v8js_memory_heap_used_bytes')).toBeGreaterThan(1e6);
    expect(readValue(samples, 'nodejs_eventloop_delay_p99_seconds')).toBeGreaterThanOrEqual(0);
    const utilization = readValue(samples, 'nodejs_eventloop_utilization');
    expect(utilization).toBeGreaterThanOrEqual(0);
    expect(utilization).toBeLessThanOrEqual(1);
    expect(readValue(samples, 'target_info', { service_name: 'parley', service_version: '0.1.0' })).toBe(1);
  });

  test('show the size of each cache and the memory of the main thread', async () => {
    const bench = await openBench();
    const getCacheSize = (cache: string) =>
      readValue(readPrometheus(bench.telemetry.toPrometheus()), 'parley_cache_size_bytes', { parley_cache: cache });
    expect(getCacheSize('log_callers')).toBe(0);
    const record = begin(bench);
    record.caller = { subject: 'ada', project: 'lab', roles: [], chain: null };
    record.end(createCallEnd(bench));
    expect(getCacheSize('log_callers')).toBeGreaterThan(50);
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    for (const memory of ['heap', 'array_buffers', 'external'])
      expect(readValue(samples, 'parley_process_memory_bytes', { parley_memory: memory })).toBeGreaterThan(0);
  });

  test('escape quotes, backslashes, and line ends in IDs', async () => {
    const odd = 'a"b\\c\nd,e="f"}';
    const bench = await openBench({ deployments: [deployment(odd)] });
    const record = begin(bench);
    record.setDeployment(odd);
    record.end(createCallEnd(bench));
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    expect(samples.some(({ labels }) => labels.gen_ai_request_model === 'a\\"b\\\\c\\nd,e=\\"f\\"}')).toBe(true);
  });
});

describe('metric labels', () => {
  test('stay few for arbitrary requests', async () => {
    const bench = await openBench();
    for (let index = 0; index < 2_000; index += 1) {
      const record = begin(bench, { route: `/made/up/${index}`, requestId: `r${index}` });
      record.setDeployment(`unknown-${index}`);
      record.startAttempt(`upstream-${index}`, bench.clock.ms).end('ok', bench.clock.ms);
      record.end(createCallEnd(bench, { status: index }));
      bench.telemetry.recordRequest({ method: `METHOD${index}`, route: '/known', status: 200, ms: 1 });
    }
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    const models = new Set(samples.map(({ labels }) => labels.gen_ai_request_model));
    expect([...models].sort()).toEqual(['_OTHER', undefined]);
    expect(new Set(samples.map(({ labels }) => labels.http_route)).size).toBeLessThanOrEqual(303);
    expect(new Set(samples.map(({ labels }) => labels.http_request_method)).size).toBeLessThanOrEqual(3);
  });

  test('are dropped with their deployment after a reload, while the other deployments retain their counts', async () => {
    const bench = await openBench({ deployments: [deployment('gpt'), deployment('old')] });
    for (const id of ['gpt', 'old']) {
      const record = begin(bench);
      record.setDeployment(id);
      record.end(createCallEnd(bench));
    }
    bench.telemetry.configure([deployment('gpt'), deployment('new')]);
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    expect(readValue(samples, 'gen_ai_server_request_duration_seconds_count', gpt)).toBe(1);
    expect(samples.some(({ labels }) => labels.gen_ai_request_model === 'old')).toBe(false);
  });

  test('are shared by deployments beyond the limit of a thousand', async () => {
    const many = Array.from({ length: 1_200 }, (_, index) => deployment(`d${index}`));
    const bench = await openBench({ deployments: many });
    for (const { id } of many) {
      const record = begin(bench);
      record.setDeployment(id);
      record.end(createCallEnd(bench));
    }
    const samples = readPrometheus(bench.telemetry.toPrometheus());
    expect(readValue(samples, 'gen_ai_server_request_duration_seconds_count', { gen_ai_request_model: '_OTHER' })).toBe(200);
  });
});

describe('OpenMetrics', () => {
  test('has families without the suffixes of their samples, units, float bounds, and an end', async () => {
    const bench = await openBench();
    bench.telemetry.configure([deployment('gpt')], 10);
    const record = begin(bench);
    record.caller = { project: 'lab "A"', subject: 'ada' } as Caller;
    record.setDeployment('gpt');
    record.cost = 500_000_000;
    record.end(createCallEnd(bench, { promptTokens: 5, completionTokens: 1 }));
    const text = bench.telemetry.toPrometheus('openmetrics');
    const lines = text.split('\n');
    expect(lines.slice(-2)).toEqual(['# EOF', '']);
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE target info',
        '# TYPE parley_spend_usd counter',
        'parley_spend_usd_total{parley_project="lab \\"A\\"",gen_ai_request_model="gpt"} 0.5',
        '# TYPE gen_ai_server_request_duration_seconds histogram',
        '# UNIT gen_ai_server_request_duration_seconds seconds',
        '# UNIT process_memory_usage_bytes bytes',
      ]),
    );
    expect(text).toMatch(/gen_ai_client_token_usage_bucket\{[^}]*le="16\.0"\} 1\n/);
    expect(bench.telemetry.toPrometheus()).not.toMatch(/# EOF|# UNIT|le="\d+\.0"/);
  });

  test.each([
    ['application/openmetrics-text', 'openmetrics'],
    ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2', 'openmetrics'],
    ['text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.3', 'prometheus'],
    ['application/openmetrics-text; version="2.0.0"', 'prometheus'],
    ['application/openmetrics-text;q=0', 'prometheus'],
    ['*/*', 'prometheus'],
    [undefined, 'prometheus'],
  ])('is chosen for the field %j: %s', (accept, format) => {
    expect(chooseMetricsFormat(accept)).toBe(format);
  });
});
