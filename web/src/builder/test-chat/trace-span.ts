import type { TraceStep } from './read-trace.ts';

type Timed = Pick<TraceStep, 'atMs' | 'durationMs' | 'firstMs'>;

interface Span {
  /** In percent of the whole. */
  readonly from: number;
  /** In percent of the whole. */
  readonly length: number;
  /** Until the first of an answer came, in percent of the span. */
  readonly waiting: number;
}

/** How long a run took as far as its steps tell, in milliseconds. */
export function computeTotalMs(steps: readonly Timed[]): number {
  return steps.reduce((end, { atMs, durationMs }) => Math.max(end, atMs + durationMs), 0);
}

/** Where a step lies within the whole run; never outside it, whatever the trace says. */
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
