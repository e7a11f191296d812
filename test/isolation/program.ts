import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { serveIsolated } from '#base/isolation/isolated-process.ts';

/** An action of the isolated test process. Most are hostile. */
export type Action =
  | 'break out'
  | 'echo'
  | 'spin'
  | 'hoard'
  | 'fill the heap'
  | 'throw'
  | 'leave'
  | 'get a signal'
  | 'tell the environment';

const megabyte = 1024 ** 2;

/** Attempts the actions of hostile code in a document process and returns the error of each attempt. `address` is the port of a listening server. */
async function breakOut(address: string): Promise<Record<string, string>> {
  const port = Number(address);
  const attempts: Record<string, () => unknown> = {
    'read a file': () => readFileSync('/etc/passwd', 'utf8').length,
    'list a folder': () => readdirSync('/'),
    'read a data folder': () => readFileSync(join(process.cwd(), 'README.md'), 'utf8').length,
    'write a file': () => writeFileSync(join(tmpdir(), 'parley-broke-out'), ''),
    'start a process': () => spawnSync('id').error ?? 'ran',
    'start a thread': () => new Worker('', { eval: true }),
    'open a socket': () => waitFor(connect(port, '127.0.0.1'), 'connect'),
    'open a Unix socket': () => waitFor(connect('/tmp/parley-broke-out.sock'), 'connect'),
    listen: () => waitFor(createServer().listen(0), 'listening'),
    'send a datagram': () =>
      new Promise((resolve, reject) =>
        createSocket('udp4')
          .on('error', reject)
          .send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve('sent'))),
      ),
    'ask by HTTP': () => fetch(`http://127.0.0.1:${port}/`).then(({ status }) => status),
    'look up a name': () => lookup('localhost'),
  };
  const outcomes: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      outcomes[name] = `did: ${await attempt()}`;
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: { code?: string } };
      outcomes[name] = code ?? cause?.code ?? String(error);
    }
  }
  return outcomes;
}

function waitFor(emitter: NodeJS.EventEmitter, event: string): Promise<string> {
  return new Promise((resolve, reject) => emitter.once(event, () => resolve(event)).once('error', reject));
}

await serveIsolated<Action>(async (action, bytes, give) => {
  const retained: unknown[] = [];
  switch (action) {
    case 'spin':
      for (;;) retained.length = 0;
    case 'hoard':
      for (;;) retained.push(Buffer.alloc(megabyte, 1));
    case 'fill the heap':
      for (;;) retained.push(JSON.parse(`[${'{"a":[]},'.repeat(100_000)}1]`));
    case 'throw':
      throw new Error('an intended error');
    case 'get a signal':
      process.kill(process.pid, 'SIGTERM');
      return new Promise(() => undefined);
    case 'leave':
      return process.exit(0);
    case 'tell the environment':
      return Object.keys(process.env);
    case 'break out':
      return breakOut(new TextDecoder().decode(bytes));
    case 'echo':
      await give(bytes.length);
      return 'done';
  }
});
