import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from './listening.ts';
import { spawnTied, type TiedProcess } from './tied-process.ts';

/** A real Redis server on the loopback interface without persistence. */
export interface TestRedis extends AsyncDisposable {
  /** `redis://127.0.0.1:…` */
  readonly url: string;
  readonly port: number;
  /** Stops the server, which breaks connections and deletes its data. */
  stop(): Promise<void>;
  /** Starts the server again on the same port without data. */
  start(): Promise<void>;
}

const flags = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--enable-debug-command', 'yes'];

/** Starts a server. Additional flags are flags of redis-server, such as `--requirepass`. */
export async function startRedis(...furtherFlags: readonly string[]): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-redis-'));
  const port = await findFreePort();
  return startServer(['redis-server', '--port', String(port), '--dir', folder, ...flags, ...furtherFlags], { folder, port });
}

/** Starts a sentinel with the settings, one a line. It changes its file. */
export async function startSentinelServer(settings: readonly string[]): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sentinel-'));
  const port = await findFreePort();
  const file = join(folder, 'sentinel.conf');
  await writeFile(file, `port ${port}\ndir ${folder}\n${settings.join('\n')}\n`);
  return startServer(['redis-server', file, '--sentinel'], { folder, port });
}

async function startServer(
  command: readonly string[],
  { folder, port }: { readonly folder: string; readonly port: number },
): Promise<TestRedis> {
  let running = await listening(command);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: () => running.stop(),
    start: async () => {
      running = await listening(command);
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function listening(command: readonly string[]): Promise<TiedProcess> {
  // The server prints its log to stdout, so the shell redirects it.
  const running = spawnTied(['sh', '-c', 'exec "$@" >&2', 'sh', ...command], { stopSignal: 'TERM' });
  await new Promise<void>((resolve, reject) => {
    let stderrText = '';
    running.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrText += text;
      if (/Ready to accept connections|Sentinel ID is/.test(stderrText)) resolve();
    });
    running.child.once('close', () => reject(new Error(`Redis did not start: ${stderrText}`)));
  });
  return running;
}
