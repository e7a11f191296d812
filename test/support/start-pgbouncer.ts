import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from './listening.ts';
import { queryPostgres } from './query-postgres.ts';
import { openFolder } from './temporary-folder.ts';
import { spawnTied, type TiedProcess } from './tied-process.ts';

/** A connection pooler in front of all databases of a PostgreSQL server. */
export interface TestPgBouncer extends AsyncDisposable {
  /** URL of the same database through the pooler. */
  readonly url: string;
  /** Process ID of the shell whose child is PgBouncer. */
  readonly pid: () => number;
  /** Stops PgBouncer immediately, which breaks connections. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

type PoolMode = 'session' | 'transaction' | 'statement';

/** Number of server connections. It is low, so that consecutive transactions of a client can use different connections. */
const poolSize = 12;

/** Starts a pooler. Further settings are lines of `pgbouncer.ini`. */
export async function startPgBouncer(
  postgresUrl: string,
  mode: PoolMode,
  ...furtherSettings: readonly string[]
): Promise<TestPgBouncer> {
  const folder = await openFolder();
  const [port, target] = [await findFreePort(), new URL(postgresUrl)];
  const { username, password } = target;
  const path = join(folder.path, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${target.port}`,
    '[pgbouncer]',
    ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
    ...['auth_type = plain', `auth_file = ${folder.path}/users`],
    ...[`pool_mode = ${mode}`, `default_pool_size = ${poolSize}`, 'max_client_conn = 500'],
    ...['server_login_retry = 1', 'server_connect_timeout = 3', ...furtherSettings],
  ];
  await writeFile(path, `${lines.join('\n')}\n`);
  await writeFile(join(folder.path, 'users'), `"${username}" "${password}"\n`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await Promise.all([path, folder.path].map((file) => chmod(file, 0o755)));
  if (isRoot) await chown(join(folder.path, 'users'), 65_534, 65_534);
  const user = isRoot ? { user: { uid: 65_534, gid: 65_534 } } : {};
  const { pathname } = target;
  const url = `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
  let running: TiedProcess;
  const start = async (): Promise<void> => {
    running = spawnTied(['pgbouncer', '-q', path], { stopSignal: 'TERM', ...user });
    running.child.stderr?.resume();
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await queryPostgres(url, 'select 1').catch(() => [])).length > 0) return;
      await sleep(100);
    }
    throw new Error('PgBouncer did not start');
  };
  await start();
  return {
    url,
    start,
    pid: () => running.child.pid ?? 0,
    stop: () => running.stop(),
    async [Symbol.asyncDispose]() {
      await running.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
