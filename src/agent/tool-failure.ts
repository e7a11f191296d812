import { HttpFault } from '#base/http/client.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { ToolFault } from '#domain/tools/tool.ts';

/** The bounds of one tool run. */
interface RunBounds {
  /** Aborted when the time of the run is over. */
  readonly signal: AbortSignal;
  /** Milliseconds the run may take. */
  readonly timeoutMs: number;
}

/** Why a tool run failed, for the model, its stage and the trace; undefined for a fault whose reason is shown to nobody. */
export function reasonOf(thrown: unknown, { signal, timeoutMs }: RunBounds): string | undefined {
  if (signal.aborted) return `The tool was stopped: it took longer than ${timeoutMs / 1000} s.`;
  const mayBeTold = thrown instanceof ToolFault || thrown instanceof HttpFault || thrown instanceof ParleyError;
  return mayBeTold ? `The tool failed: ${thrown.message}` : undefined;
}

/** What is said in place of a reason. */
export const withheldReason = 'The tool failed.';
