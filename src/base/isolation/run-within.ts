/** The part of `node:vm` used here. The page's type check does not know Node's modules. */
interface NodeVm {
  runInNewContext(code: string, globals: object, options: { readonly timeout: number }): unknown;
}

/** The part of `process` used here. CPU times are in microseconds. */
interface NodeProcess {
  getBuiltinModule(id: 'node:vm'): NodeVm;
  threadCpuUsage(): { readonly user: number; readonly system: number };
}

/** A busy machine gives the thread only a part of a core. A run that got less than half of its time is repeated once. */
const minCpuShare = 1 / 2;
const retryFactor = 4;

/**
 * Runs a function synchronously and returns its result. If `run` takes longer than `timeoutMs`, it is ended with an error, even
 * in the middle
 * of a regular expression. Meant for rules from outside. It bounds time but is not a sandbox. Costs about a millisecond. `run`
 * may
 * be called twice. On the page, which has no `node:vm`, it only calls `run`: there a user's rules delay only that user.
 */
export function runWithin<Value>(timeoutMs: number, run: () => Value): Value {
  const { process } = globalThis as { readonly process?: NodeProcess };
  if (process === undefined) return run();
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  const startMs = getCpuMs(process);
  try {
    return runInNewContext('run()', { run }, { timeout: timeoutMs }) as Value;
  } catch (error) {
    if (!isTimeout(error) || getCpuMs(process) - startMs > timeoutMs * minCpuShare) throw error;
    return runInNewContext('run()', { run }, { timeout: timeoutMs * retryFactor }) as Value;
  }
}

/** Returns whether `runWithin` ended a run because its time was over. The error is of another realm, so `instanceof` does not hold. */
export function isTimeout(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

function getCpuMs(process: NodeProcess): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
