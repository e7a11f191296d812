import { Caches } from '#base/cache/bounded-cache.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { Clock } from '#base/time/clock.ts';
import type { CallEnd, CallRecord, CallStart } from '#domain/calls/telemetry.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { createLog, type Log, type LogLevel } from '#telemetry/log.ts';
import { type NodeTelemetry, openTelemetry } from '#telemetry/node-telemetry.ts';

export const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Clock that tests advance manually. */
class HandClock implements Clock {
  ms = 1_000;
  nowMs = (): number => this.ms;
  epochMs = (): number => 1_700_000_000_000 + this.ms;
  sleep = (): Promise<void> => Promise.resolve();
}

export function deployment(id: string, upstreamIds: readonly string[] = [`${id}#up`]): Deployment {
  const upstreams = upstreamIds.map((upstream) => ({
    id: upstream,
    protocol: 'openai',
    endpoint: new URL('https://api.example.com/v1'),
    model: 'their-model',
    key: new Secret('canary-upstream-key'),
  }));
  return { id, kind: 'model', type: 'chat', upstreams } as unknown as Deployment;
}

export interface Bench {
  readonly telemetry: NodeTelemetry;
  readonly clock: HandClock;
  readonly log: Log;
  /** Returns the complete log. */
  text(): string;
  /** Returns the parsed log lines. */
  lines(): Record<string, unknown>[];
}

export interface BenchOptions {
  readonly level?: LogLevel;
  readonly env?: Record<string, string>;
  readonly deployments?: readonly Deployment[];
}

/** Opens the telemetry of a node with a recorded log. */
export async function openBench({
  level = 'info',
  env = {},
  deployments = [deployment('gpt')],
}: BenchOptions = {}): Promise<Bench> {
  const clock = new HandClock();
  let output = '';
  const sink = {
    write(line: string): void {
      output += line;
    },
  };
  const log = createLog({ level, sink, secrets: () => [new Secret('canary-known-secret')] });
  const live = {
    upstreams: () => [{ id: 'gpt#up', isPaused: true, rejectsWith: 401, parallel: 0, maxParallel: undefined }],
    queues: () => [],
    configurationErrors: () => 2,
  };
  const telemetry = await openTelemetry({
    env,
    clock,
    caches: new Caches(),
    log,
    lines: sink,
    live,
    version: '0.1.0',
    secret: 'pepper',
    listeners: [],
  });
  telemetry.configure(deployments);
  const lines = () =>
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { telemetry, clock, log, text: () => output, lines };
}

/** Creates the error of an upstream that answers 500. */
export function createUpstreamError(message: string): Error {
  return new UpstreamError('refused', message, { status: 500, code: 'server_error' });
}

/** Begins a call like a surface. */
export function begin({ telemetry, clock }: Bench, start: Partial<CallStart> = {}): CallRecord {
  return telemetry.startCall({
    operation: 'chat',
    route: '/v1/chat/completions',
    requestId: 'request-1',
    traceparent: undefined,
    tracestate: undefined,
    atMs: clock.ms,
    ...start,
  });
}

export function createCallEnd({ clock }: Bench, end: Partial<CallEnd> = {}): CallEnd {
  return { outcome: 'ok', status: 200, error: undefined, promptTokens: 0, completionTokens: 0, atMs: clock.ms, ...end };
}
