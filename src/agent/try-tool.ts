import type { Clock } from '#base/time/clock.ts';
import type { Tool, ToolResult, ToolTrial, TriedTool } from '#domain/tools/tool.ts';
import { performTool, readArguments } from './perform-tool.ts';
import { loadTrialTools, type ToolSources } from './quick-app/load-tools.ts';
import { KeptResults } from './results/kept-results.ts';
import { toShownResult } from './stages.ts';

interface TryDeps {
  readonly sources: ToolSources;
  readonly clock: Clock;
  /** `tools` of the configuration. */
  readonly limits: { readonly timeoutMs: number; readonly maxResultBytes: number };
  /** Called with faults whose reason is shown to nobody. */
  readonly onFault: (tool: string, thrown: unknown) => void;
}

/**
 * Runs a tool once as a run of an application would: within the same time, behind the same network guard, with a result as long
 * as a model is shown. Undefined if the toolset has no such tool. Rejects with ToolFault if its server cannot be used.
 */
export async function tryTool(trial: ToolTrial, deps: TryDeps): Promise<TriedTool | undefined> {
  const { subject, signal } = trial;
  // Nobody handed it files.
  const context = { signal, subject, application: '/v1/tools/run', owner: subject, mayRead: () => false };
  const tools = await loadTrialTools(trial.toolset, { sources: deps.sources, context });
  const tool = tools.find(({ name }) => name === trial.tool);
  return tool && perform(tool, trial, deps);
}

async function perform(tool: Tool, { args: given, signal }: ToolTrial, deps: TryDeps): Promise<TriedTool> {
  const { clock, limits, onFault } = deps;
  const { args, fault } = await readArguments(JSON.stringify(given), tool.parameters);
  if (fault !== undefined) return { outcome: 'not_run', text: fault, attachments: [], durationMs: 0 };
  const startedMs = clock.nowMs();
  let cited = 0;
  const result = await performTool(tool, args, {
    ...{ signal, timeoutMs: limits.timeoutMs, onFault },
    toContext: (bounded) => ({
      ...{ signal: bounded, roomBytes: limits.maxResultBytes, report: async () => undefined },
      cite() {
        cited += 1;
        return cited;
      },
    }),
  });
  return { ...toOutcome(result, limits.maxResultBytes), durationMs: clock.nowMs() - startedMs };
}

function toOutcome(result: ToolResult, maxBytes: number): Omit<TriedTool, 'durationMs'> {
  const { question, failed, attachments } = result;
  if (question !== undefined) {
    const { message, schema } = question;
    return { outcome: 'asks', text: message, attachments: [], question: { message, schema } };
  }
  const { text } = toShownResult(result, maxBytes, new KeptResults('read_result'));
  return { outcome: failed ? 'failed' : 'answered', text, attachments };
}
