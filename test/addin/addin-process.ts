import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { main } from '#test/start-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface AddinProcess extends AsyncDisposable {
  readonly url: string;
  readonly output: { readonly stdout: string };
  readonly ended: Promise<number | null>;
  /** Resolves when stdout matches the pattern. Rejects if the process ends first. */
  waitForOutput(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `parley addin` as a separate process, and waits until it listens. */
export async function startAddinProcess(
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<AddinProcess> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [main, 'addin', '--port', '0', ...flags], {
    cwd: root,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = { stdout: '' };
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const waitForOutput = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (pattern.test(output.stdout)) resolve();
      };
      child.stdout.on('data', check);
      void ended.then(() => reject(new Error(`ended before ${pattern}: ${output.stdout}`)));
      check();
    });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  const greeting = /base URL for the add-in: (\S+)\/msgapi/;
  await waitForOutput(greeting);
  return {
    url: greeting.exec(output.stdout)?.[1] ?? '',
    output,
    ended,
    waitForOutput,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
