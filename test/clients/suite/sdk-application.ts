import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const relay = join(import.meta.dirname, '../python/sdk_application.py');
const longestStartMs = 60_000;

interface ApplicationOptions {
  /** File of the application. By default, the application that most of the suite calls. */
  readonly program?: string;
  readonly toCommand: (file: string) => readonly string[];
  readonly port: number;
  /** URL at which it calls the service. */
  readonly url: string;
}

/** Starts an application that uses the SDK of its family, and resolves when it listens. */
export async function startApplication({ program = relay, toCommand, port, url }: ApplicationOptions): Promise<AsyncDisposable> {
  const [file = '', ...args] = toCommand(program);
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH ?? '', PYTHONUNBUFFERED: '1', DIAL_URL: url, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const until = Date.now() + longestStartMs;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`the application did not start: ${output}`);
    }
    await setTimeout(100);
  }
  return {
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || !child.kill('SIGKILL')) return;
      await once(child, 'exit');
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (listening: boolean) => () => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', settle(true)).once('error', settle(false));
  });
}
