/** A metric as OpenTelemetry describes it. */
export interface Instrument {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

export interface HistogramInstrument extends Instrument {
  /** Upper bounds of the buckets, ascending. */
  readonly boundaries: readonly number[];
}

const callSeconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const httpSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const firstTokenSeconds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const chunkIntervalSeconds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const tokenCounts = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

/**
 * Names, units, and buckets follow OpenTelemetry's semantic conventions. The names of metrics that these do not define start with
 * `parley.`.
 */
export const histograms = {
  httpRequest: {
    name: 'http.server.request.duration',
    unit: 's',
    description: 'Duration of HTTP requests.',
    boundaries: httpSeconds,
  },
  call: {
    name: 'gen_ai.server.request.duration',
    unit: 's',
    description: 'Duration of calls to deployments, to the last byte of the answer.',
    boundaries: callSeconds,
  },
  timeToFirstByte: {
    name: 'gen_ai.server.time_to_first_token',
    unit: 's',
    description: 'Time to the first bytes of streamed answers.',
    boundaries: firstTokenSeconds,
  },
  timePerOutputToken: {
    name: 'gen_ai.server.time_per_output_token',
    unit: 's',
    description: 'Time per output token after the first one of streamed answers.',
    boundaries: chunkIntervalSeconds,
  },
  timeBetweenChunks: {
    name: 'parley.stream.time_between_chunks',
    unit: 's',
    description: 'Time between two writes of streamed answers.',
    boundaries: chunkIntervalSeconds,
  },
  tokens: {
    name: 'gen_ai.client.token.usage',
    unit: '{token}',
    description: 'Tokens used by calls.',
    boundaries: tokenCounts,
  },
  queueWait: {
    name: 'parley.upstream.queue.wait',
    unit: 's',
    description: 'Waits for upstreams whose maxParallel was reached.',
    boundaries: callSeconds,
  },
  attempt: {
    name: 'gen_ai.client.operation.duration',
    unit: 's',
    description: 'Duration of upstream attempts.',
    boundaries: callSeconds,
  },
} as const satisfies Record<string, HistogramInstrument>;

export const counters = {
  upstreamTries: { name: 'parley.upstream.tries', unit: '{try}', description: 'Attempts at upstreams.' },
  spend: { name: 'parley.spend.usd', unit: '{USD}', description: 'Cost of calls in USD.' },
  cpu: { name: 'process.cpu.time', unit: 's', description: 'CPU seconds used, by mode.' },
} as const satisfies Record<string, Instrument>;

export const gauges = {
  inFlightCalls: { name: 'parley.open_calls', unit: '{call}', description: 'Calls in progress.' },
  openStreams: { name: 'parley.open_streams', unit: '{stream}', description: 'Streamed answers in progress.' },
  upstreamState: {
    name: 'parley.upstream.state',
    unit: '',
    description: 'State of an upstream: 0 ready, 1 paused, 2 rejects the credentials of the configuration.',
  },
  parallelCalls: {
    name: 'parley.upstream.calls',
    unit: '{call}',
    description: 'Calls in progress at an upstream with maxParallel.',
  },
  maxParallelCalls: { name: 'parley.upstream.max_calls', unit: '{call}', description: 'The maxParallel of an upstream.' },
  queuedCalls: {
    name: 'parley.upstream.queue.calls',
    unit: '{call}',
    description: 'Calls that wait because every upstream of their deployment has maxParallel calls in progress.',
  },
  configurationErrors: {
    name: 'parley.configuration.faults',
    unit: '{fault}',
    description: 'Errors in the configuration that was last rejected. 0 while the newest one is in effect.',
  },
  memory: { name: 'process.memory.usage', unit: 'By', description: 'Resident memory.' },
  heap: { name: 'v8js.memory.heap.used', unit: 'By', description: 'Heap in use.' },
  processMemory: {
    name: 'parley.process.memory',
    unit: 'By',
    description:
      'Resident memory of the main thread: its heap including free space, array buffers, and other memory outside of the heap.',
  },
  cacheSize: { name: 'parley.cache.size', unit: 'By', description: 'Approximate size of a cache. Every cache has a limit.' },
  eventLoopDelay: {
    name: 'nodejs.eventloop.delay.p99',
    unit: 's',
    description: 'Delay of the event loop since the last collection, 99th percentile.',
  },
  eventLoopUtilization: {
    name: 'nodejs.eventloop.utilization',
    unit: '1',
    description: 'Share of the time since the last collection that the event loop was busy, from 0 to 1.',
  },
  uptime: { name: 'process.uptime', unit: 's', description: 'Time since the start.' },
} as const satisfies Record<string, Instrument>;
