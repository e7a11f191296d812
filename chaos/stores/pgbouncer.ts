import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#test/listening.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { spawnTied, type TiedProcess } from '#test/tied-process.ts';
import { listFamily } from '../support/processes-of.ts';

/** A connection pooler in front of PostgreSQL, with one server connection per client or per transaction. */
export interface PgBouncer extends AsyncDisposable {
  readonly url: string;
  /** Returns the process IDs of PgBouncer. */
  readonly pids: () => readonly number[];
  start(): Promise<void>;
}

export async function startPgBouncer(postgresUrl: string, mode: 'session' | 'transaction'): Promise<PgBouncer> {
  const folder = await openFolder();
  const [port, target] = [await freePort(), new URL(postgresUrl)];
  const { username, password } = target;
  const path = join(folder.path, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${target.port} dbname=postgres`,
    '[pgbouncer]',
    ...[
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${folder.path}/users`,
    ],
    ...[
      `pool_mode = ${mode}`,
      'ignore_startup_parameters = extra_float_digits,options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout',
      'default_pool_size = 40',
    ],
    ...['server_login_retry = 1', 'server_connect_timeout = 3'],
  ];
  await writeFile(path, `${lines.join('\n')}\n`);
  await writeFile(join(folder.path, 'users'), `"${username}" "${password}"\n`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await Promise.all([path, folder.path].map((file) => chmod(file, 0o755)));
  if (isRoot) await chown(join(folder.path, 'users'), 65_534, 65_534);
  const user = isRoot ? { user: { uid: 65_534, gid: 65_534 } } : {};
  const url = `postgres://${username}:${password}@127.0.0.1:${port}/postgres`;
  let running: TiedProcess;
  const start = async (): Promise<void> => {
    running = spawnTied(['pgbouncer', '-q', path], { stopSignal: 'INT', ...user });
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
    // PgBouncer is a child of the shell that ends it together with this process.
    pids: () => listFamily(running.child.pid ?? 0).slice(1),
    async [Symbol.asyncDispose]() {
      await running.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
