import type { Clock } from '#base/time/clock.ts';
import type { Tool, ToolResult, ToolTestResult, ToolTestRun } from '#domain/tools/tool.ts';
import { parseArguments, performTool } from './perform-tool.ts';
import { loadTrialTools, type ToolSources } from './quick-app/load-tools.ts';
import { FullResults, readResultName, toVisibleResult } from './results/full-results.ts';

interface TryToolDeps {
  readonly sources: ToolSources;
  readonly clock: Clock;
  /** The `tools` section of the configuration. */
  readonly limits: { readonly timeoutMs: number; readonly maxResultBytes: number };
  /** Called with errors whose message must not be disclosed. */
  readonly onToolError: (tool: string, error: unknown) => void;
}

/**
 * Runs a tool once under the conditions of an application run: with the same timeout, network guard, and result size. Returns
 * undefined if the toolset does not have the tool. Rejects with `ToolError` if its server is unavailable.
 */
export async function tryTool(trial: ToolTestRun, deps: TryToolDeps): Promise<ToolTestResult | undefined> {
  const { subject, signal } = trial;
  // A trial run has no files shared with it.
  const context = { signal, subject, application: '/v1/tools/run', owner: subject, mayRead: () => false };
  const tools = await loadTrialTools(trial.toolset, { sources: deps.sources, context });
  const tool = tools.find(({ name }) => name === trial.tool);
  return tool && perform(tool, trial, deps);
}

async function perform(tool: Tool, { args: input, signal }: ToolTestRun, deps: TryToolDeps): Promise<ToolTestResult> {
  const { clock, limits, onToolError } = deps;
  const { args, error } = await parseArguments(JSON.stringify(input), tool.parameters);
  if (error !== undefined) return { outcome: 'not_run', text: error, attachments: [], durationMs: 0 };
  const startedMs = clock.nowMs();
  let citationCount = 0;
  const result = await performTool(tool, args, {
    signal,
    timeoutMs: limits.timeoutMs,
    onToolError,
    createContext: (runSignal) => ({
      signal: runSignal,
      maxResultBytes: limits.maxResultBytes,
      report: async () => undefined,
      cite() {
        citationCount += 1;
        return citationCount;
      },
    }),
  });
  return { ...toOutcome(result, limits.maxResultBytes), durationMs: clock.nowMs() - startedMs };
}

function toOutcome(result: ToolResult, maxBytes: number): Omit<ToolTestResult, 'durationMs'> {
  const { question, failed, attachments } = result;
  if (question !== undefined) {
    const { message, schema } = question;
    return { outcome: 'asks', text: message, attachments: [], question: { message, schema } };
  }
  const { text } = toVisibleResult(result, maxBytes, new FullResults(readResultName));
  return { outcome: failed ? 'failed' : 'answered', text, attachments };
}
