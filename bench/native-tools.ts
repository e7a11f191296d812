import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the compiled upstream and load generator. */
export interface NativeTools {
  upstream: string;
  load: string;
}

/** Compiles the C programs with the system compiler into `bench/.build`. */
export function buildNativeTools(benchFolder: string): NativeTools {
  const folder = join(benchFolder, '.build');
  mkdirSync(folder, { recursive: true });
  const build = (name: string): string => {
    const program = join(folder, name);
    const run = spawnSync('cc', ['-O2', '-Wall', '-o', program, join(benchFolder, `${name}.c`)], { encoding: 'utf8' });
    if (run.error) throw new Error(`no C compiler: ${run.error.message} (Debian: apt-get install gcc libc6-dev)`);
    if (run.status !== 0) throw new Error(`${name}.c does not compile:\n${run.stderr}`);
    return program;
  };
  return { upstream: build('upstream'), load: build('load') };
}
