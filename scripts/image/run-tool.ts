import { execFileSync } from 'node:child_process';

/** Runs a program and returns its standard output. Throws an error that names the program if it is missing or fails. */
export function runTool(program: string, args: readonly string[], options: { cwd?: string; input?: string; env?: NodeJS.ProcessEnv } = {}): string {
  try {
    return execFileSync(program, args, { ...options, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'], maxBuffer: 64 << 20 });
  } catch (error) {
    throw new Error(`${program} failed. The image build needs Debian or Ubuntu with npm, apt-get, dpkg-deb, tar, and binutils.`, { cause: error });
  }
}
