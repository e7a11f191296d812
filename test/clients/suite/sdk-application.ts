import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const relay = join(import.meta.dirname, '../python/sdk_application.py');
const longestStartMs = 60_000;

interface ApplicationOptions {
  /** Its file; the application that most of the suite asks where absent. */
  readonly program?: string;
  readonly toCommand: (file: string) => readonly string[];
  readonly port: number;
  /** Where it calls the service. */
  readonly url: string;
}

/** The application written with the family's SDK, once it listens. */
export async function startApplication({ program = relay, toCommand, port, url }: ApplicationOptions): Promise<AsyncDisposable> {
  const [file = '', ...args] = toCommand(program);
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH ?? '', PYTHONUNBUFFERED: '1', DIAL_URL: url, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const until = Date.now() + longestStartMs;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`the application did not start: ${said}`);
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
