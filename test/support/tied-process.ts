import { type ChildProcess, spawn } from 'node:child_process';

export interface TiedOptions {
  /** Signal that ends the program regularly, in the notation of `kill -s`. */
  readonly stopSignal: 'INT' | 'TERM';
  /** User that runs the program. Default: the user of this process. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

export interface TiedProcess {
  readonly child: ChildProcess;
  /** Stops the program and resolves after it has ended. */
  stop(): Promise<void>;
}

/** Runs a program until it ends or until the other end of descriptor 3 is closed. */
const supervisor = `signal=$1; shift
"$@" 3<&- & program=$!
{ read -r _ <&3; kill -s "$signal" "$program"; } & watcher=$!
wait "$program"; code=$?
kill "$watcher" 2>&-
exit "$code"`;

/** Starts a server that ends with this process, even if this process is killed. Its output goes to stderr. */
export function spawnTied(command: readonly string[], { stopSignal, user }: TiedOptions): TiedProcess {
  const child = spawn('sh', ['-c', supervisor, 'sh', stopSignal, ...command], {
    ...user,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    child,
    stop: () => {
      child.stdio[3]?.destroy();
      return ended;
    },
  };
}
