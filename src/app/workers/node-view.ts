import type { Reason } from '#surfaces/ops/routes.ts';
import { mergeMetrics, toLastingMetrics, toPlainMetrics } from '#telemetry/merge-metrics.ts';
import type { Metric } from '#telemetry/metric.ts';
import { readProcessMetrics, watchProcess } from '#telemetry/node-metrics.ts';
import type { Supervisor, WorkerProcess } from './supervisor.ts';

const answerTimeoutMs = 2_000;

/** Health and metrics of the complete node, which every worker returns. */
export class NodeView {
  readonly #supervisor: () => Supervisor;
  readonly #process = watchProcess();
  /** Metrics of each worker at the last collection. */
  readonly #last = new Map<number, readonly Metric[]>();
  /** Counts of workers that have ended, so that the sums never decrease. */
  #ended: readonly Metric[] = [];

  constructor(supervisor: () => Supervisor) {
    this.#supervisor = supervisor;
  }

  readonly listIssues = async (): Promise<readonly Reason[]> => {
    const { ready, missing } = this.#supervisor();
    const lists = await Promise.all(ready.map((process) => readIssues(process)));
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
        const metrics = await channel.request('metrics.read', null, { timeoutMs: answerTimeoutMs }).catch(() => undefined);
        if (metrics !== undefined && this.#supervisor().find(worker) !== undefined)
          this.#last.set(worker, metrics as readonly Metric[]);
      }),
    );
    const primaryMetrics = toPlainMetrics(readProcessMetrics(this.#process.readProcess()));
    return mergeMetrics([...this.#last.values(), this.#ended, primaryMetrics]);
  };

  onRemoved({ worker }: WorkerProcess): void {
    const last = this.#last.get(worker);
    this.#last.delete(worker);
    if (last !== undefined) this.#ended = mergeMetrics([this.#ended, toLastingMetrics(last)]);
  }
}

async function readIssues({ channel, slot }: WorkerProcess): Promise<readonly Reason[]> {
  try {
    return (await channel.request('health.read', null, { timeoutMs: answerTimeoutMs })) as readonly Reason[];
  } catch {
    return [{ code: 'worker_unresponsive', message: `Worker ${slot} does not answer.` }];
  }
}
