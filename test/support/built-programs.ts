import childProcess, { type ChildProcess, type ForkOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

// Setup of every test file. A service that a test starts in its own process forks the programs in `dist`, as an installed service
// does. They start in half the time of the sources.

const sources = new URL('../../src/', import.meta.url).href;
const dist = new URL('../../dist/', import.meta.url);

type Fork = (program: string | URL, args: readonly string[], options: ForkOptions) => ChildProcess;

function toBuilt(fork: Fork): Fork {
  return function forkBuilt(program, args, options) {
    const built = new URL(basename(String(program)).replace(/\.ts$/, '.js'), dist);
    if (!String(program).startsWith(sources) || !existsSync(built)) return fork(program, args, options);
    // A program reads the files next to it.
    return fork(built, args, { ...options, execArgv: [...(options.execArgv ?? []), `--allow-fs-read=${fileURLToPath(dist)}`] });
  };
}

// The setup runs for each file, and files share the process.
if (childProcess.fork.name !== 'forkBuilt') {
  Object.assign(childProcess, { fork: toBuilt(childProcess.fork as Fork) });
  syncBuiltinESMExports();
}
