import type { AttemptOutcome, CallEnd, CallRecord, CallStart, Telemetry } from '#domain/calls/telemetry.ts';

const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: undefined };

/** Telemetry that records all reports. */
export class RecordedTelemetry implements Telemetry {
  readonly starts: CallStart[] = [];
  readonly ends: CallEnd[] = [];
  readonly tries: AttemptOutcome[] = [];
  readonly records: CallRecord[] = [];
  readonly deployments: string[] = [];
  readonly #waiting: { readonly isThere: () => boolean; readonly resolve: () => void }[] = [];

  startCall(start: CallStart): CallRecord {
    this.starts.push(start);
    this.#notify();
    const record: CallRecord = {
      trace,
      caller: undefined,
      setDeployment: (id) => void this.deployments.push(id),
      recordFirstByte() {},
      recordChunk() {},
      recordQueueWait() {},
      cost: 0,
      session: undefined,
      tags: undefined,
      details: {},
      isPrivate: false,
      content: undefined,
      startAttempt: () => ({ trace, end: (outcome) => void this.tries.push(outcome) }),
      end: (end) => {
        this.ends.push(end);
        this.#notify();
      },
    };
    this.records.push(record);
    return record;
  }

  /** Resolves when every started call has ended. */
  ended(): Promise<void> {
    return this.#until(() => this.ends.length === this.starts.length);
  }

  /** Resolves when more than `count` calls have started. */
  untilStarted(count: number): Promise<void> {
    return this.#until(() => this.starts.length > count);
  }

  #until(isThere: () => boolean): Promise<void> {
    if (isThere()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ isThere, resolve }));
  }

  #notify(): void {
    for (const waiting of this.#waiting.filter(({ isThere }) => isThere())) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve();
    }
  }
}
