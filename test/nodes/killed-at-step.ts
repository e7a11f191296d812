import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Upper bound for the steps of a command, so that a test ends. */
export const maxSteps = 200;

const { TEST_KILLED_AT_STEP: killedStep } = process.env;

/** Returns the environment of a process that is killed before its file operation with this index, starting at 0. */
export function killedAtStep(step: number): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, TEST_KILLED_AT_STEP: String(step) };
}

// The process imports this file before the command.
if (killedStep !== undefined) {
  let remaining = Number(killedStep);
  for (const name of ['copyFile', 'mkdir', 'rename', 'rm', 'writeFile'] as const) {
    const run = fs.promises[name] as (...args: unknown[]) => unknown;
    const runOrKill = (...args: unknown[]): unknown => {
      if (remaining === 0) for (;;) process.kill(process.pid, 'SIGKILL');
      remaining -= 1;
      return run(...args);
    };
    Object.assign(fs.promises, { [name]: runOrKill });
  }
  syncBuiltinESMExports();
}
