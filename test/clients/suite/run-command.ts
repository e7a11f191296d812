import { spawn } from 'node:child_process';

export interface Ran {
  /** 0 on success, null if the process was killed or did not start. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Environment variables that programs need. Keys and addresses of vendors would direct them elsewhere. */
const bare = /^(PATH|HOME|TMPDIR|JAVA_HOME|GO[A-Z]+|XDG_[A-Z_]+)$/;

export interface RunOptions {
  /** Additions to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly timeoutMs?: number;
  /** Omits variables of this process that only installers need. */
  readonly isBare?: boolean;
}

/** Runs a program to its end. */
export function runCommand(command: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { environment = {}, folder = import.meta.dirname, timeoutMs = 600_000, isBare = false } = options;
  const [file = '', ...args] = command;
  const inherited = Object.entries(process.env).filter(([name]) => !isBare || bare.test(name));
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, stdout, stderr: `${stderr}${error.message}` }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
