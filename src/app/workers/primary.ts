import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import type { RequestHandler } from '#base/net/request-channel.ts';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Environment } from '#configuration/substitute.ts';
import type { Notice } from '#domain/node-broadcast.ts';
import { createFirstStartToken } from '#services/administration/first-start.ts';
import { ArchivedLimitStore } from '#stores/memory/archived-limit-store.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import type { AcquireWriteLock } from '#stores/sql/engine/sql-database.ts';
import { SqlLimitCounters } from '#stores/sql/limits/limit-counters.ts';
import { LimitCoordinator } from '#stores/workers/limit-coordinator.ts';
import type { ReserveMessage, ReturnedShare, SentUsage, SettleMessage } from '#stores/workers/share-messages.ts';
import { WriteLock } from '#stores/workers/write-lock.ts';
import type { Reason } from '#surfaces/ops/routes.ts';
import type { Log } from '#telemetry/log.ts';
import { type Metric, mergeMetrics, toPlainMetrics, withoutGauges } from '#telemetry/metric.ts';
import { readProcessMetrics, watchProcess } from '#telemetry/node-metrics.ts';
import { openLog } from '#telemetry/open-log.ts';
import { openDataFolder, openOwnSecret } from '../node/open-data-folder.ts';
import { openDatabase } from '../node/open-database.ts';
import { thisNode } from '../node/stores.ts';
import { closeInOrder, ignoreEchoes, type Resource } from '../process/drain.ts';
import { createLocalKey, greet } from '../process/greet.ts';
import { listenAt } from '../process/listening.ts';
import { releaseStartMemory } from '../process/memory-shares.ts';
import { startSample } from '../sample/sample.ts';
import { listSecrets, SettingError, type Settings } from '../settings.ts';
import { Supervisor, type WorkerProcess, WorkerStartError } from './supervisor.ts';
import type { WorkerStart } from './worker-context.ts';

const clock = systemClock;
/** Number of the primary process among the processes that write to the database. */
const primaryWorker = 0;
/** Time for a worker to close its stores after its drain. */
const closeTimeoutMs = 7_000;
/** Time for a worker to answer a request. */
const requestTimeoutMs = 2_000;
const interruptedExitCode = 130;

/**
 * Runs the primary process of a node with several workers. It starts and replaces the workers, and holds the state that they share.
 * It serves no calls. Throws SettingError.
 */
export async function runPrimary(settings: Settings, environment: Environment): Promise<void> {
  let onHangUp = (): void => undefined;
  process.on('SIGHUP', () => onHangUp());
  const { log, lines } = openLog(settings.logLevel, () => listSecrets(settings));
  const lock = await openDataFolder(settings);
  if (settings.secrets.length === 0) await openOwnSecret(settings.dataFolder);
  const isDefault = settings.configurationFiles.length === 0;
  const sample = isDefault ? await startSample(createRandomSecret()) : undefined;
  const localKey = createLocalKey();
  const writeLock = new WriteLock();
  const limits = await openLimits(settings, { log, writeLock });
  const commonStart = {
    port: await reservePort(settings, settings.port, '--port'),
    metricsPort:
      settings.metricsPort === undefined ? undefined : await reservePort(settings, settings.metricsPort, 'PARLEY_METRICS_PORT'),
    instanceId: randomUUID(),
    startedAtMs: clock.epochMs() - process.uptime() * 1000,
    local: {
      key: localKey,
      firstStartToken: createFirstStartToken(createRandomSecret()),
      sample: sample?.server && { origin: sample.server.origin, secret: sample.server.secret.reveal() },
    },
  };
  const view = new NodeView(() => supervisor);
  const coordinator = new LimitCoordinator({
    store: limits.store,
    clock,
    workerCount: settings.workers,
    recall: async (worker, holders, onLate) => {
      const answer = supervisor.find(worker)?.channel.request('limits.recall', holders, { timeoutMs: requestTimeoutMs, onLate });
      return ((await answer) ?? []) as readonly ReturnedShare[];
    },
  });
  let address = '';
  const supervisor: Supervisor = new Supervisor({
    count: settings.workers,
    clock,
    log,
    onLines: (text) => lines.writeNow(text),
    onRemoved(process) {
      coordinator.remove(process.worker);
      writeLock.remove(process.worker);
      view.onRemoved(process);
    },
    createHandlers: (process) =>
      new Map<string, RequestHandler>([
        ...createStateHandlers(process, { coordinator, writeLock, view, supervisor: () => supervisor }),
        ['start', () => createStart(process, supervisor, commonStart)],
        ['failed', (reason: string) => supervisor.markFailed(process, reason)],
        [
          'ready',
          (listening: string) => {
            address = listening;
            supervisor.markReady(process);
          },
        ],
      ]),
  });
  const closeStages: readonly Resource[][] = [
    sample?.server === undefined ? [] : [sample.server],
    [limits],
    [{ close: () => lock?.release() }],
    [lines],
  ];
  let isStopping = false;
  const onStop = async (signal: NodeJS.Signals): Promise<void> => {
    if (isStopping) {
      supervisor.kill();
      process.exit(interruptedExitCode);
    }
    isStopping = true;
    const code = await supervisor.stop(signal, settings.drainMs + closeTimeoutMs);
    const isClosed = await closeInOrder(closeStages, log);
    process.exit(isClosed ? code : 1);
  };
  const onSignal = ignoreEchoes((signal) => void onStop(signal), environment, clock);
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  process.on('unhandledRejection', (reason) => log.error('unhandled promise rejection', reason));
  try {
    await supervisor.start();
  } catch (error) {
    if (!(error instanceof WorkerStartError)) throw error;
    if (isStopping) return;
    supervisor.kill();
    await closeInOrder(closeStages, log);
    throw new SettingError(error.message);
  }
  onHangUp = () => supervisor.sendAll('signal', 'SIGHUP');
  greet(address, isDefault ? localKey : undefined);
  releaseStartMemory();
}

type OpenLimits = Resource & { readonly store: ArchivedLimitStore | MemoryLimitStore };

/** Opens the limit counters of the node. With Redis, the workers do not need them. */
async function openLimits(settings: Settings, { log, writeLock }: { log: Log; writeLock: WriteLock }): Promise<OpenLimits> {
  if (settings.shared.redisUrl !== undefined) return { store: new MemoryLimitStore(), close: () => undefined };
  const reportError = (message: string, error: unknown): void => log.error(message, error);
  const note = (message: string): void => log.info(message);
  const acquireWriteLock: AcquireWriteLock = async () => {
    await writeLock.acquire(primaryWorker);
    return () => writeLock.release(primaryWorker);
  };
  // This also creates the tables, so that the workers find them.
  const database = await openDatabase(settings, { note, reportError, acquireWriteLock });
  const isShared = settings.shared.databaseUrl !== undefined;
  const counters = new SqlLimitCounters(database.database, isShared ? randomUUID() : thisNode);
  const store = new ArchivedLimitStore({ archive: counters, clock, reportError, note });
  const restored = database.reached.then(() => store.restore());
  if (database.shared.every(({ isUnavailable }) => !isUnavailable())) await restored;
  return {
    store,
    async close() {
      await store.close();
      await database.close();
    },
  };
}

interface StateHandlerDeps {
  readonly coordinator: LimitCoordinator;
  readonly writeLock: WriteLock;
  readonly view: NodeView;
  readonly supervisor: () => Supervisor;
}

/** Returns the handlers for the state that workers share. */
function createStateHandlers(
  { worker }: WorkerProcess,
  { coordinator, writeLock, view, supervisor }: StateHandlerDeps,
): readonly (readonly [string, RequestHandler])[] {
  return [
    ['limits.reserve', (message: ReserveMessage) => coordinator.reserve(worker, message)],
    ['limits.settle', (message: SettleMessage) => coordinator.settle(worker, message)],
    ['limits.report', (usages: readonly SentUsage[]) => coordinator.report(worker, usages)],
    ['limits.return', (returned: readonly ReturnedShare[]) => coordinator.applyReturned(worker, returned)],
    ['write.acquire', () => writeLock.acquire(worker)],
    ['write.release', () => writeLock.release(worker)],
    ['health', view.listIssues],
    ['metrics', view.readMetrics],
    [
      'relay',
      ({ worker: receiver, topic, body }: { worker: number; topic: string; body: unknown }) =>
        supervisor().find(receiver)?.channel.request(topic, body, { timeoutMs: requestTimeoutMs }) ?? null,
    ],
    [
      'broadcast',
      async (notice: Notice) => {
        // A worker that is starting may already have read the previous state.
        const receivers = supervisor().all.filter((receiver) => receiver.worker !== worker);
        await Promise.allSettled(
          receivers.map(({ channel }) => channel.request('notice', notice, { timeoutMs: requestTimeoutMs })),
        );
      },
    ],
  ];
}

async function createStart(
  { slot, worker }: WorkerProcess,
  { ready }: Supervisor,
  commonStart: Omit<WorkerStart, 'slot' | 'worker' | 'isFirst' | 'configuration'>,
): Promise<WorkerStart> {
  const [source] = ready;
  const configuration = await source?.channel.request('configuration.read', null).catch(() => undefined);
  return { ...commonStart, slot, worker, isFirst: worker === 1, configuration: configuration as string | undefined };
}

/**
 * Returns a port that all workers can listen on. On Linux, first checks that no other program listens on it, because the kernel
 * would share the port with another node of the same user. Throws SettingError.
 */
async function reservePort({ host }: Settings, port: number, setting: string): Promise<number> {
  if (process.platform !== 'linux') return port;
  const server = createServer();
  const listen = () =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => resolve((server.address() as AddressInfo).port));
    });
  const reserved = await listenAt(listen, { host, port, setting });
  await new Promise((resolve) => server.close(resolve));
  return reserved;
}

/** Health and metrics of the complete node, which every worker returns. */
class NodeView {
  readonly #supervisor: () => Supervisor;
  readonly #ownProcess = watchProcess();
  /** Metrics of each worker at the last collection. */
  readonly #lastMetrics = new Map<number, readonly Metric[]>();
  /** Counts of workers that have ended, so that the sums never decrease. */
  #endedCounts: readonly Metric[] = [];

  constructor(supervisor: () => Supervisor) {
    this.#supervisor = supervisor;
  }

  readonly listIssues = async (): Promise<readonly Reason[]> => {
    const { ready, missing } = this.#supervisor();
    const lists = await Promise.all(ready.map(readIssues));
    const missingReasons = missing.map(({ slot, failure }) => ({
      code: 'worker_missing',
      message: `Worker ${slot} ended and is being replaced${failure === undefined ? '' : `: ${failure}`}.`,
    }));
    const reasons = [...lists.flat(), ...missingReasons];
    return [...new Map(reasons.map((reason) => [`${reason.code} ${reason.message}`, reason])).values()];
  };

  readonly readMetrics = async (): Promise<readonly Metric[]> => {
    const { ready } = this.#supervisor();
    await Promise.all(
      ready.map(async ({ channel, worker }) => {
        // A worker that does not answer in time counts with its last values.
        const metrics = await channel.request('metrics.read', null, { timeoutMs: requestTimeoutMs }).catch(() => undefined);
        if (metrics !== undefined && this.#supervisor().find(worker) !== undefined)
          this.#lastMetrics.set(worker, metrics as readonly Metric[]);
      }),
    );
    const primaryMetrics = toPlainMetrics(readProcessMetrics(this.#ownProcess.readProcess()));
    return mergeMetrics([...this.#lastMetrics.values(), this.#endedCounts, primaryMetrics]);
  };

  onRemoved({ worker }: WorkerProcess): void {
    const last = this.#lastMetrics.get(worker);
    this.#lastMetrics.delete(worker);
    if (last !== undefined) this.#endedCounts = mergeMetrics([this.#endedCounts, withoutGauges(last)]);
  }
}

async function readIssues({ channel, slot }: WorkerProcess): Promise<readonly Reason[]> {
  try {
    return (await channel.request('health.read', null, { timeoutMs: requestTimeoutMs })) as readonly Reason[];
  } catch {
    return [{ code: 'worker_unresponsive', message: `Worker ${slot} does not answer.` }];
  }
}
