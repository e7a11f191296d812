import { tryDecode } from '#base/http/url-path.ts';
import type { Labels } from './series.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** OpenTelemetry exporters that the environment selects. The exporters themselves read addresses, headers, and timeouts. */
export interface OtlpSettings {
  readonly metrics: boolean;
  readonly traces: boolean;
  readonly metricIntervalMs: number;
  readonly spanDelayMs: number;
  /** Fraction of the traces starting here that are recorded, from 0 to 1. If the client decided, its decision applies. */
  readonly ratio: number;
}

const defaultMetricIntervalMs = 60_000;
const defaultSpanDelayMs = 5_000;

export function readOtlpSettings(env: Environment): OtlpSettings {
  const isOn = env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true';
  const sends = (signal: 'METRICS' | 'TRACES'): boolean => {
    const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
    return isOn && Boolean(endpoint) && env[`OTEL_${signal}_EXPORTER`] !== 'none';
  };
  return {
    metrics: sends('METRICS'),
    traces: sends('TRACES'),
    metricIntervalMs: toNumber(env.OTEL_METRIC_EXPORT_INTERVAL, defaultMetricIntervalMs),
    spanDelayMs: toNumber(env.OTEL_BSP_SCHEDULE_DELAY, defaultSpanDelayMs),
    ratio: readRatio(env),
  };
}

/**
 * Returns the OpenTelemetry resource of the node, including the attributes from `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES`.
 */
export function toResource(env: Environment, node: { version: string; instanceId: string }): Labels {
  const attributes = readAttributes(env.OTEL_RESOURCE_ATTRIBUTES);
  return {
    'service.version': node.version,
    'service.instance.id': node.instanceId,
    ...attributes,
    'service.name': env.OTEL_SERVICE_NAME || (attributes['service.name'] ?? 'parley'),
  };
}

function readRatio(env: Environment): number {
  if (env.OTEL_TRACES_SAMPLER?.endsWith('always_off')) return 0;
  if (!env.OTEL_TRACES_SAMPLER?.endsWith('traceidratio')) return 1;
  return Math.min(1, toNumber(env.OTEL_TRACES_SAMPLER_ARG, 1));
}

function readAttributes(text: string | undefined): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const pair of (text ?? '').split(',')) {
    // Pattern bound: one pair of an environment variable, which the operator writes.
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    if (key !== undefined && value !== undefined) attributes[key] = tryDecode(value) ?? value;
  }
  return attributes;
}

function toNumber(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return text === undefined || text.trim() === '' || !(value >= 0) ? otherwise : value;
}
