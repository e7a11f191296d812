import type { AttemptRecord, CallRecord, Telemetry, TraceContext } from '#domain/calls/telemetry.ts';

const noTrace: TraceContext = { traceparent: '00-00000000000000000000000000000001-0000000000000001-00', tracestate: undefined };

const noopAttempt: AttemptRecord = { trace: noTrace, end() {} };

const noopRecord: CallRecord = {
  trace: noTrace,
  caller: undefined,
  setDeployment() {},
  recordFirstByte() {},
  recordChunk() {},
  startAttempt: () => noopAttempt,
  recordQueueWait() {},
  cost: 0,
  session: undefined,
  tags: undefined,
  details: {},
  isPrivate: false,
  content: undefined,
  end() {},
};

/** Telemetry that records no calls. */
export const noopTelemetry: Telemetry = { startCall: () => ({ ...noopRecord }) };
