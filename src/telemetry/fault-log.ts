import type { CallEnd } from '#domain/telemetry.ts';
import type { Log } from './log.ts';
import type { CallListener, MeasuredCall } from './measured-call.ts';

/** Writes why a call failed, if the fault is ours or an upstream's: the causes that its caller is not told. */
export class FaultLog implements CallListener {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  callEnded({ start, place, deploymentId, lastAttempt }: MeasuredCall, { error, status }: CallEnd): void {
    if (error === undefined || error.status < 500) return;
    this.#log.error('a call failed', error, {
      request_id: start.requestId,
      trace_id: place.traceId,
      deployment: deploymentId ?? null,
      upstream: lastAttempt?.upstreamId ?? null,
      status,
    });
  }
}
