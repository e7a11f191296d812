import type { TraceStep } from './read-trace.ts';
import { toSpan } from './trace-span.ts';

interface TraceBarProps {
  readonly step: TraceStep;
  /** How long the whole run took. */
  readonly wholeMs: number;
}

/** When a step was under way within the whole run; lighter until the first of its answer. The times stand beside it in words. */
export function TraceBar({ step, wholeMs }: TraceBarProps) {
  const { from, length, waiting } = toSpan(step, wholeMs);
  const kind = step.isModel ? 'model' : 'tool';
  return (
    <span className="trace-bar" aria-hidden="true">
      <span
        className={step.hasFailed ? `${kind} failed` : kind}
        style={{ insetInlineStart: `${from}%`, inlineSize: `${length}%` }}
      >
        <span style={{ inlineSize: `${waiting}%` }} />
      </span>
    </span>
  );
}
