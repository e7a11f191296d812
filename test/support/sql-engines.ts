import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import type { OpenDatabase, OpenOptions, SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { createFreshDatabase, type TestDatabase } from './fresh-database.ts';
import { getSharedServer } from './shared-server.ts';
import { openPostgres } from './start-postgres.ts';

/** A new database. Disposal deletes it. */
export interface FreshDatabase extends AsyncDisposable {
  /** Opens the database like another node. */
  open(options?: OpenOptions): Promise<OpenDatabase & AsyncDisposable>;
}

export interface Node {
  readonly engine: string;
  readonly database: SqlDatabase;
  /** The database as another node sees it. */
  readonly otherDatabase: SqlDatabase;
}

const engines = [
  { engine: 'SQLite', fresh: freshSqlite },
  { engine: 'PostgreSQL', fresh: freshPostgres },
  { engine: 'PgBouncer', fresh: freshPooledPostgres },
];

/** Options with a long timeout, because a step can take long on a busy machine. */
const patient: OpenOptions = { timeoutMs: 60_000 };

/** Runs tests on each engine. The tests of an engine share one database. */
export function describeOnEach(what: string, tests: (node: Node) => void): void {
  describe.each(engines)(`${what} on $engine`, ({ engine, fresh }) => {
    const opened: OpenDatabase[] = [];
    let testDatabase: FreshDatabase | undefined;
    beforeAll(async () => {
      testDatabase = await fresh();
      opened.push(await testDatabase.open(patient), await testDatabase.open(patient));
    });
    afterAll(async () => {
      for (const { close } of opened) await close();
      await testDatabase?.[Symbol.asyncDispose]();
    });
    const at = (index: number): SqlDatabase => {
      const match = opened[index];
      if (match === undefined) throw new Error('the database is not open yet');
      return match.database;
    };
    tests({
      engine,
      get database() {
        return at(0);
      },
      get otherDatabase() {
        return at(1);
      },
    });
  });
}

/** Adds the disposal that closes the database. */
function withDisposal(opened: OpenDatabase): OpenDatabase & AsyncDisposable {
  return { ...opened, [Symbol.asyncDispose]: opened.close };
}

export async function freshSqlite(): Promise<FreshDatabase & { readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sqlite-'));
  const file = join(folder, 'data', 'parley.db');
  return {
    file,
    open: (options) => openSqlite(file, options).then(withDisposal),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

export async function freshPostgres(): Promise<FreshDatabase & TestDatabase> {
  const { url, ...fresh } = await createFreshDatabase();
  return { ...fresh, url, open: (options) => openPostgres(url, options).then(withDisposal) };
}

/** Opens a database through a pooler in transaction mode. The URL leads to the server itself. */
async function freshPooledPostgres(): Promise<FreshDatabase> {
  const { url, ...fresh } = await createFreshDatabase();
  const pooledUrl = new URL(new URL(url).pathname, await getSharedServer('pgbouncer')).href;
  return { ...fresh, open: (options) => openPostgres(pooledUrl, options).then(withDisposal) };
}
