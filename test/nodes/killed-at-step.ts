/** Upper bound for the steps of a command, so that a test ends. */
export const maxSteps = 200;

/** Program that kills its own process before a file operation. It runs before the command. */
const program = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
let remaining = Number(process.env.TEST_KILLED_AT_STEP);
for (const name of ['copyFile', 'mkdir', 'rename', 'rm', 'writeFile']) {
  const run = fs.promises[name];
  fs.promises[name] = (...args) => {
    if (remaining-- === 0) for (;;) process.kill(process.pid, 'SIGKILL');
    return run(...args);
  };
}
syncBuiltinESMExports();
`;

/** Returns the environment of a process that is killed before its file operation with this index, starting at 0. */
export function killedAtStep(step: number): Readonly<Record<string, string>> {
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program).replaceAll("'", '%27')}`,
    TEST_KILLED_AT_STEP: String(step),
  };
}
