import { type ChildProcess, spawn } from 'node:child_process';

export interface TiedOptions {
  /** Signal that ends the program in good order, as `kill -s` names it. */
  readonly stopSignal: 'INT' | 'TERM';
  /** Whom it runs as; absent: the one who runs this process. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

export interface TiedProcess {
  readonly child: ChildProcess;
  /** Ends the program and resolves once it is gone. */
  stop(): Promise<void>;
}

/** Runs a program until it ends, or until nobody holds the other end of descriptor 3 any more. */
const supervisor = `signal=$1; shift
"$@" 3<&- & program=$!
{ read -r _ <&3; kill -s "$signal" "$program"; } & watcher=$!
wait "$program"; code=$?
kill "$watcher" 2>&-
exit "$code"`;

/** A server that ends when this process does, even where this process is killed. What it says is on stderr. */
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
