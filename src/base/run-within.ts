/** The part of `node:vm` used here. The page's type check does not know Node's modules. */
interface NodeVm {
  runInNewContext(code: string, globals: object, options: { readonly timeout: number }): unknown;
}

/**
 * Returns what `run` returns, synchronously. If it takes longer than `timeoutMs`, it is ended with an error, even in the middle
 * of a regular expression. Meant for rules from outside: it bounds time, it is no sandbox. Costs about a millisecond. On the
 * page, which has no `node:vm`, it only calls `run`: there a user's rules delay only that user.
 */
export function runWithin<Value>(timeoutMs: number, run: () => Value): Value {
  const { process } = globalThis as { readonly process?: { getBuiltinModule(id: 'node:vm'): NodeVm } };
  if (process === undefined) return run();
  return process.getBuiltinModule('node:vm').runInNewContext('run()', { run }, { timeout: timeoutMs }) as Value;
}
