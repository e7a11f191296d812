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
export function wholeOf(steps: readonly Timed[]): number {
  return steps.reduce((end, { atMs, durationMs }) => Math.max(end, atMs + durationMs), 0);
}

/** Where a step lies within the whole run; never outside it, whatever the trace says. */
export function toSpan({ atMs, durationMs, firstMs = 0 }: Timed, wholeMs: number): Span {
  const from = percent(atMs, wholeMs);
  return { from, length: Math.min(percent(durationMs, wholeMs), 100 - from), waiting: percent(firstMs, durationMs) };
}

function percent(part: number, whole: number): number {
  return whole > 0 ? Math.min(100, Math.max(0, (part / whole) * 100)) : 0;
}
