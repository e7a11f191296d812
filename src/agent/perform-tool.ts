import type { JsonObject } from '#base/json/json.ts';
import { untilAborted } from '#base/stream/until-aborted.ts';
import type { Tool, ToolContext, ToolResult } from '#domain/tools/tool.ts';
import { reasonOf, withheldReason } from './tool-failure.ts';

/** Within what a tool is run. */
export interface PerformBounds {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Milliseconds the run may take. */
  readonly timeoutMs: number;
  /** Called with faults whose reason is shown to nobody. */
  readonly onFault: (tool: string, thrown: unknown) => void;
  readonly toContext: (signal: AbortSignal) => ToolContext;
}

/** Runs a tool; its failure is a result. Rejects with the reason of the signal. */
export async function performTool(tool: Tool, args: JsonObject, bounds: PerformBounds): Promise<ToolResult> {
  const { timeoutMs, onFault, toContext } = bounds;
  const signal = AbortSignal.any([bounds.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await untilAborted(run(tool, args, toContext(signal)), signal);
  } catch (thrown) {
    bounds.signal.throwIfAborted();
    const reason = reasonOf(thrown, { signal, timeoutMs });
    if (reason === undefined) onFault(tool.name, thrown);
    return toFailure(reason ?? withheldReason);
  }
}

async function run(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  return tool.run(args, context);
}

/** The result of a run that failed. */
export function toFailure(text: string): ToolResult {
  return { text, attachments: [], failed: true };
}
