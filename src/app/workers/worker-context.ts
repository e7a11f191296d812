import { type ChannelMessage, RequestChannel, type RequestHandler } from '#base/net/request-channel.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { AcquireWriteLock } from '#stores/sql/engine/sql-database.ts';
import type { Reason } from '#surfaces/ops/routes.ts';
import type { Metric } from '#telemetry/metric.ts';
import type { SampleAddress } from '../sample/sample.ts';

/** Properties of a worker, which the primary process sends at the start. */
export interface WorkerStart {
  /** Position among the workers, from 1. A replacement has the position of the worker that ended. */
  readonly slot: number;
  /** Number of the process, which no other process of the node had. */
  readonly worker: number;
  readonly port: number;
  readonly metricsPort: number | undefined;
  /** Identifies the node in metrics. */
  readonly instanceId: string;
  /** Start of the node, in milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Whether this is the first worker process of the node. */
  readonly isFirst: boolean;
  /** API key and tools of the embedded default, and the one-time token for the first admin key. */
  readonly local: {
    readonly key: string;
    readonly firstStartToken: string;
    readonly sample: { readonly origin: string; readonly secret: string } | undefined;
  };
  /** Configuration in force in the other workers, as JSON. Undefined if no other worker serves yet. */
  readonly configuration: string | undefined;
}

/** A worker's connection to the primary process and to the other workers. */
export interface WorkerContext extends Omit<WorkerStart, 'local'> {
  readonly local: Omit<WorkerStart['local'], 'sample'> & { readonly sample: SampleAddress | undefined };
  readonly channel: RequestChannel;
  /** Handlers for requests of other processes, by topic. */
  readonly handlers: Map<string, RequestHandler>;
  readonly acquireWriteLock: AcquireWriteLock;
  /** Returns the issues of all workers. */
  readonly listIssues: () => Promise<readonly Reason[]>;
  /** Returns the metrics of all workers. */
  readonly readMetrics: () => Promise<readonly Metric[]>;
}

/** Returns whether this process does the tasks of the node as a whole. The worker in slot 1 does them for all workers. */
export function doesNodeTasks(worker: Pick<WorkerContext, 'slot'> | undefined): boolean {
  return worker === undefined || worker.slot === 1;
}

/** Environment variable that marks the process of a worker. */
export const workerVariable = 'PARLEY_WORKER';

const noTimeoutMs = 2 ** 31 - 1;
/** Time for the first answer, which a busy machine can delay. */
const maxStartMs = 60_000;
const ownSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Connects this process to the primary process. The process ends with the primary process. */
export async function connectToPrimary(): Promise<WorkerContext> {
  // A terminal sends signals to all processes of a group. Workers react only to signals that the primary process passes on.
  for (const signal of ownSignals) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit(1));
  const handlers = new Map<string, RequestHandler>([['signal', (signal: NodeJS.Signals) => exitEarly(signal)]]);
  handlers.set('check', () => null);
  const channel = new RequestChannel((message) => void process.send?.(message, undefined, undefined, () => undefined), handlers);
  process.on('message', (message) => channel.receive(message as ChannelMessage));
  const start = (await channel.request('start', null, { timeoutMs: maxStartMs })) as WorkerStart;
  const { sample } = start.local;
  return {
    ...start,
    local: { ...start.local, sample: sample && { origin: sample.origin, secret: new Secret(sample.secret) } },
    channel,
    handlers,
    async acquireWriteLock() {
      await channel.request('write.acquire', null, { timeoutMs: noTimeoutMs });
      return () => channel.send('write.release', null);
    },
    listIssues: async () => (await channel.request('health', null)) as readonly Reason[],
    readMetrics: async () => (await channel.request('metrics', null)) as readonly Metric[],
  };
}

/** Ends a worker that does not serve yet. */
function exitEarly(signal: NodeJS.Signals): void {
  if (signal !== 'SIGHUP') process.exit(0);
}

/** Reports why this worker cannot start, and ends the process. */
export function failToStart({ channel }: WorkerContext, message: string): void {
  channel.request('failed', message).finally(() => process.exit(1));
}
