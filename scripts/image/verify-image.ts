import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { appFolder } from './app-files.ts';
import { userId } from './base-files.ts';
import { settings } from './image-config.ts';

/**
 * Enters the root file system as a container engine would: read-only, with an own process namespace, temporary folders for /tmp
 * and /dev, and a volume at /data. Then it runs a command as the user of the image, without capabilities and without a way to get some.
 */
const enter = `set -e
IMAGE_PATH=$PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 data=$2; shift 2
mount --bind "$root" "$root"
mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
for device in null zero random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
PATH=$IMAGE_PATH exec /usr/bin/setpriv --no-new-privs -- /usr/sbin/chroot --userspec=${userId}:${userId} "$root" /bin/sh -c 'cd "$0" && exec "$@"' "${settings.WorkingDir}" "$@"`;

/** A root file system with its volume and its port on the host's loopback address. */
interface Container {
  readonly root: string;
  readonly data: string;
  readonly port: number;
}

function start({ root, data, port }: Container, command: readonly string[]): ChildProcess {
  const variables = [...settings.Env, `PARLEY_PORT=${port}`, 'PARLEY_HOST=127.0.0.1'].map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  const flags = ['--mount', '--pid', '--fork', '--kill-child', '--', '/bin/sh', '-c', enter, 'sh', root, data, ...command];
  return spawn('/usr/bin/unshare', flags, { env: Object.fromEntries(variables), stdio: ['ignore', 'pipe', 'inherit'] });
}

async function run(container: Container, command: readonly string[]): Promise<string> {
  const child = start(container, command);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command[0]} ended with exit code ${code} in the image: ${output}`);
  return output.trim();
}

/** Returns the modules outside of `dist` that the service imports. */
function listImports(root: string): string[] {
  const folder = join(root, appFolder, 'dist');
  const names = globSync('*.js', { cwd: folder }).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/(?:^(?:import|export) .*from |^import |\bimport\()"([@a-z][^":]*)"/gm)].map(([, name]) => name ?? ''),
  );
  return [...new Set(names)].sort();
}

async function readKey(server: ChildProcess): Promise<string> {
  if (server.stdout === null) throw new Error('The service has no output.');
  for await (const line of createInterface(server.stdout)) {
    const [, key] = /#key=(\S+)/.exec(line) ?? [];
    if (key !== undefined) return key;
  }
  throw new Error('The service ended before it listened.');
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

async function request(url: string, key: string, body?: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text}`);
  return text;
}

async function waitUntilHealthy(container: Container): Promise<void> {
  const [, ...command] = settings.Healthcheck.Test;
  await run(container, command);
}

/**
 * Starts the unpacked image as its user on a read-only root file system and uses it. Prints each result. Throws if one fails.
 * Needs root, for the mounts.
 */
export async function verifyImage(root: string, data: string): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  chownSync(data, userId, userId);
  const container = { root, data, port: await findFreePort() };
  console.log(`user: ${await run(container, ['id'])}`);
  const imports = listImports(root);
  if (imports.length < 10) throw new Error(`dist imports only ${imports.join(', ')}.`);
  const load = `for (const name of ${JSON.stringify(imports)}) await import(name)`;
  await run(container, ['node_modules/.bin/node', '--input-type=module', '-e', load]);
  console.log(`packages: ${imports.length} imports of dist load`);
  await run(container, ['sh', '-c', '! touch /opt/parley/x 2>/dev/null && touch /data/x && rm /data/x']);
  console.log('root file system: read-only, /data is writable');
  const isUnhealthy = await waitUntilHealthy(container).then(
    () => false,
    () => true,
  );
  if (!isUnhealthy) throw new Error('The health check passes although the service does not run.');
  const server = start(container, [...settings.Entrypoint, ...settings.Cmd]);
  try {
    await useService(container, await readKey(server));
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'close');
  }
}

async function useService(container: Container, key: string): Promise<void> {
  const url = `http://127.0.0.1:${container.port}`;
  await waitUntilHealthy(container);
  console.log('health check: passed, and failed before the start');
  const messages = [{ role: 'user', content: 'Say hello' }];
  const chat = JSON.parse(await request(`${url}/v1/chat/completions`, key, { model: 'demo', messages }));
  console.log(`chat completion: ${JSON.stringify(chat.choices[0].message.content)}`);
  const embeddings = JSON.parse(await request(`${url}/v1/embeddings`, key, { model: 'demo-embeddings', input: 'hello' }));
  console.log(`embedding: ${embeddings.data[0].embedding.length} numbers`);
  for (const path of ['/', '/docs']) console.log(`${path}: ${(await request(url + path, key)).length} characters`);
}
