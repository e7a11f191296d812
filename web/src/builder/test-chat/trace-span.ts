import type { TraceStep } from './read-trace.ts';

type Timed = Pick<TraceStep, 'atMs' | 'durationMs' | 'firstMs'>;

interface Span {
  /** Percentage of the complete run. */
  readonly from: number;
  /** Percentage of the complete run. */
  readonly length: number;
  /** Time to the first part of the answer, as a percentage of the span. */
  readonly waiting: number;
}

/** Returns the duration of a run in milliseconds, computed from its steps. */
export function computeTotalMs(steps: readonly Timed[]): number {
  return steps.reduce((end, { atMs, durationMs }) => Math.max(end, atMs + durationMs), 0);
}

/** Returns the position of a step within the run, clamped to the run regardless of the trace. */
export function toSpan({ atMs, durationMs, firstMs = 0 }: Timed, totalMs: number): Span {
  const from = computePercent(atMs, totalMs);
  return {
    from,
    length: Math.min(computePercent(durationMs, totalMs), 100 - from),
    waiting: computePercent(firstMs, durationMs),
  };
}

function computePercent(part: number, total: number): number {
  return total > 0 ? Math.min(100, Math.max(0, (part / total) * 100)) : 0;
}
