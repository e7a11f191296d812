import type { Clock } from '#base/clock.ts';
import type { CallEnd } from '#domain/telemetry.ts';
import type { UsageRecord } from '#domain/usage/journal.ts';
import type { CallListener, MeasuredCall } from '../measured-call.ts';
import type { RecordQueue } from './record-queue.ts';

/** Notes what each call of a known caller to a known deployment used. */
export class UsageRecorder implements CallListener {
  readonly #records: RecordQueue<UsageRecord>;
  readonly #clock: Clock;
  readonly #startId: string;
  #count = 0;

  /** `startId` is of this start of this node alone. Ids that grow are written far faster than random ones. */
  constructor(records: RecordQueue<UsageRecord>, clock: Clock, startId: string) {
    this.#records = records;
    this.#clock = clock;
    this.#startId = startId;
  }

  callEnded({ caller, deploymentId, start, cost, session, details }: MeasuredCall, end: CallEnd): void {
    if (caller === undefined || deploymentId === undefined || end.error?.code === 'deployment_not_found') return;
    const durationMs = end.atMs - start.atMs;
    this.#records.add({
      id: `${this.#startId}-${(++this.#count).toString(36).padStart(9, '0')}`,
      requestId: start.requestId,
      atMs: Math.round(this.#clock.epochMs() - durationMs),
      subject: caller.subject,
      project: caller.project,
      deployment: deploymentId,
      path: [...(caller.chain?.path ?? []), deploymentId],
      operation: start.operation,
      outcome: end.outcome,
      status: end.status,
      promptTokens: end.promptTokens,
      completionTokens: end.completionTokens,
      cost,
      durationMs: Math.round(durationMs),
      ...details,
      ...(session !== undefined && { session }),
      ...(caller.madeKey !== undefined && { keyId: caller.madeKey.id }),
    });
  }
}
