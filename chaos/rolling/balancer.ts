import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '#test/listening.ts';
import { sendRequest } from '#test/send-request.ts';
import { openFolder } from '#test/temporary-folder.ts';

/** An nginx load balancer with health checks. Nodes that are not ready receive no new requests. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the balancer uses exactly these ports. */
  readonly uses: (ports: readonly number[]) => Promise<void>;
}

const lookEveryMs = 200;

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const folder = await openFolder();
  const port = await findFreePort();
  const path = join(folder.path, 'nginx.conf');
  let used = [...ports];
  let hasEnded = false;
  await writeFile(path, toConfiguration({ folder: folder.path, port, ports: used }));
  const child = spawn('nginx', ['-c', path, '-e', join(folder.path, 'error.log')], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const looking = (async () => {
    while (!hasEnded) {
      const checks = await Promise.all(ports.map(async (port) => [port, await isReady(port)] as const));
      const ready = checks.filter(([, isGood]) => isGood).map(([port]) => port);
      if (ready.length > 0 && ready.join() !== used.join()) {
        await writeFile(path, toConfiguration({ folder: folder.path, port, ports: ready }));
        child.kill('SIGHUP');
        // Waits until the new workers of nginx run.
        await sleep(300);
        used = ready;
      }
      await sleep(lookEveryMs);
    }
  })();
  await untilItAnswers(url, child);
  return {
    url,
    async uses(expected) {
      while (used.join() !== expected.join()) await sleep(50);
    },
    async [Symbol.asyncDispose]() {
      hasEnded = true;
      await looking;
      child.kill('SIGTERM');
      await new Promise((resolve) => (child.exitCode === null ? child.once('close', resolve) : resolve(undefined)));
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  const response = sendRequest(`http://127.0.0.1:${port}`, { method: 'GET', path: '/ready' });
  return response.then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function untilItAnswers(url: string, { exitCode }: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 100 && exitCode === null; tries += 1) {
    const answered = await sendRequest(url, { method: 'GET', path: '/health' }).catch(() => undefined);
    if (answered?.status === 200) return;
    await sleep(100);
  }
  throw new Error('nginx did not start');
}

interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly ports: readonly number[];
}

function toConfiguration({ folder, port, ports }: Setting): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`);
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 4000; }
http {
  access_log off;
  ${temporary.join('\n  ')}
  upstream nodes {
    ${ports.map((upstreamPort) => `server 127.0.0.1:${upstreamPort};`).join('\n    ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
}
