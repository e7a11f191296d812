import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import { systemClock } from '#base/time/clock.ts';
import { StoreError } from '#domain/store-error.ts';
import { SqlNodeStore } from '#stores/sql/administration/node-store.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { openMonitoredPostgres } from '#stores/sql/engine/postgres.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { NewerDatabaseError } from '#stores/sql/migrate.ts';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { makeCertificates } from '#test/make-certificates.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { getSharedServer } from '#test/shared-server.ts';
import { freshPostgres } from '#test/sql-engines.ts';
import { startPgBouncer, type TestPgBouncer } from '#test/start-pgbouncer.ts';
import { openPostgres, startPostgres } from '#test/start-postgres.ts';

const consent = { deployment: 'app', form: { app: { consentRequired: true } }, acceptedAtMs: 1 };
const backends = `select pid from pg_stat_activity where datname = current_database() and application_name = 'parley'`;
const exclusiveLocks = `select 1 from pg_locks join pg_database on pg_database.oid = database where datname = current_database() and mode = 'AccessExclusiveLock' and granted`;

/** Expects the step to fail with a `StoreError` with this reason. */
async function expectFailure(step: Promise<unknown>, reason: string): Promise<void> {
  const error = await step.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(StoreError);
  expect(String(error)).toContain(reason);
}

describe('PostgreSQL', () => {
  it('can be opened by nodes that start at the same time', async () => {
    await using fresh = await freshPostgres();
    const nodes = await Promise.all(Array.from({ length: 6 }, () => fresh.open()));
    expect(
      await queryPostgres(fresh.url, 'select version, count(*) from parley_migrations group by version having count(*) > 1'),
    ).toEqual([]);
    for (const { database } of nodes) await new SqlConsentStore(database).put('user', consent);
    for (const { close } of nodes) await close();
  });

  it('is rejected if a later version created its tables', async () => {
    await using fresh = await freshPostgres();
    await (await fresh.open()).close();
    await queryPostgres(fresh.url, 'insert into parley_migrations (version) values (1000)');
    await expect(fresh.open()).rejects.toThrow(NewerDatabaseError);
  });

  it('fails every step immediately if it stops, and works again when it is back', async () => {
    await using server = await startPostgres();
    const { database, close } = await openPostgres(server.url);
    const store = new SqlConsentStore(database);
    await Promise.all(Array.from({ length: 10 }, (_, index) => store.put(`user ${index}`, consent)));
    await server.stop();
    await expectFailure(store.find('user 1', 'app'), 'the database failed');
    await expectFailure(store.put('user 1', consent), 'the database');
    await server.start();
    expect(await vi.waitFor(() => store.find('user 1', 'app'), 5_000)).toEqual(consent);
    await store.put('user 1', { ...consent, acceptedAtMs: 2 });
    expect(await store.find('user 1', 'app')).toMatchObject({ acceptedAtMs: 2 });
    await close();
  });

  it('fails only the running statement if it is stopped', async () => {
    await using server = await startPostgres();
    const { database, close } = await openPostgres(server.url);
    const slow = database.run((kysely) => sql`select pg_sleep(60)`.execute(kysely));
    const slowWrite = database.transact((transaction) => sql`select pg_sleep(60)`.execute(transaction));
    const failures = [expectFailure(slow, 'the database failed'), expectFailure(slowWrite, 'the database failed')];
    await vi.waitUntil(async () => (await queryPostgres(server.url, `${backends} and state = 'active'`)).length === 2, {
      interval: 20,
    });
    await server.stop();
    await Promise.all(failures);
    await server.start();
    await vi.waitFor(() => new SqlConsentStore(database).put('user', consent), 5_000);
    await close();
  });

  it('is abandoned after the time limit if it does not answer, and so is the connection', async () => {
    await using fresh = await freshPostgres();
    await using opened = await fresh.open({ timeoutMs: 3_000 });
    const { database } = opened;
    const store = new SqlConsentStore(database);
    await store.put('user', consent);
    const frozen = (await queryPostgres(fresh.url, backends)).map(({ pid }) => Number(pid));
    expect(frozen).toHaveLength(1);
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    try {
      await expectFailure(store.find('user', 'app'), 'the database took more than 3000 ms');
      await sleep(200);
      const found = await Promise.all(Array.from({ length: 3 }, () => store.find('user', 'app')));
      expect(found).toEqual([consent, consent, consent]);
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
    }
  });

  it('times out at a foreign lock without partial changes', async () => {
    await using fresh = await freshPostgres();
    await using opened = await fresh.open();
    const { database } = opened;
    await using hasty = await fresh.open({ timeoutMs: 1_000 });
    const index = new SqlFileIndex(database);
    const times = { createdAtMs: 1, updatedAtMs: 1 };
    const file = { bucket: 'b', path: 'p', contentType: 'text/plain', contentLength: 10, etag: 'e', blob: 'e', ...times };
    const locked = queryPostgres(fresh.url, `begin; lock table files in access exclusive mode; select pg_sleep(60)`).catch(
      () => undefined,
    );
    await vi.waitUntil(async () => (await queryPostgres(fresh.url, exclusiveLocks)).length > 0);
    await expectFailure(new SqlFileIndex(hasty.database).put(file, undefined, 10), 'the database');
    await queryPostgres(
      fresh.url,
      `select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`,
    );
    await locked;
    expect(await index.put(file, 'absent', 10)).toMatchObject({ outcome: 'stored' });
  });

  it('is reconnected after it closes idle connections', async () => {
    await using fresh = await freshPostgres();
    await using opened = await fresh.open();
    const { database } = opened;
    const store = new SqlConsentStore(database);
    await Promise.all(Array.from({ length: 8 }, () => store.put('user', consent)));
    const broken = await queryPostgres(fresh.url, `select pg_terminate_backend(pid) from (${backends}) as ours`);
    expect(broken.length).toBeGreaterThan(1);
    await vi.waitUntil(async () => (await queryPostgres(fresh.url, backends)).length === 0, { interval: 20 });
    await sleep(20);
    expect(await store.find('user', 'app')).toEqual(consent);
  });

  it('that is unavailable or rejects the password causes a StoreError without secrets', async () => {
    const wrong = new URL(await getSharedServer('postgres'));
    wrong.password = 'canary-of-the-password';
    const addresses = [wrong.href, 'postgres://canary:canary@127.0.0.1:1/x', 'postgres://canary:canary@[nowhere', 'canary'];
    for (const address of addresses) {
      const error: Error = await openPostgres(address, { timeoutMs: 1_000 }).then(
        () => new Error('it was opened'),
        (error: Error) => error,
      );
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).not.toContain('canary');
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it('does not expose messages of the engine', async () => {
    await using fresh = await freshPostgres();
    const { database, close } = await fresh.open();
    const faulty = database.run((kysely) => sql`select 'canary' from no_such_table`.execute(kysely));
    await expect(faulty).rejects.toThrow(StoreError);
    await expect(faulty).rejects.toMatchObject({ message: expect.not.stringMatching(/canary|no_such_table|relation/) });
    await close();
    await expect(new SqlConsentStore(database).find('user', 'app')).rejects.toThrow(StoreError);
  });

  it('returns the end of a node record by the clock of the node that reads it', async () => {
    await using fresh = await freshPostgres();
    const clock = { epochMs: () => systemClock.epochMs() + 60_000 };
    await using opened = await fresh.open({ clock });
    const store = new SqlNodeStore(opened.database);
    const nowMs = clock.epochMs();
    const record = { node: 'node', untilMs: nowMs + 15_000, filesDigest: null, report: {} };
    await store.put(record, nowMs);
    expect(await store.list(nowMs)).toEqual([record]);
  });

  it('names a full disk in its errors', async () => {
    await using fresh = await freshPostgres();
    await using opened = await fresh.open();
    const fail = sql.raw(`do $$ ${['begin', "raise sqlstate '53100';", 'end'].join(' ')} $$`);
    await expect(opened.database.transact((transaction) => fail.execute(transaction))).rejects.toThrow(
      'The store is currently unavailable: the disk of the database is full',
    );
  });
});

const ignoring = 'ignore_startup_parameters = extra_float_digits,statement_timeout,idle_in_transaction_session_timeout';

const readLimits = sql<{ statement: string; idle: string }>`select current_setting('statement_timeout') as statement,
  current_setting('idle_in_transaction_session_timeout') as idle`;

async function getTransactionLimits(opened: SqlDatabase): Promise<unknown> {
  return (await opened.transact((transaction) => readLimits.execute(transaction))).rows[0];
}

async function openNotes(url: string): Promise<readonly string[]> {
  const notes: string[] = [];
  const callbacks = { note: (text: string) => notes.push(text), onUnavailable: () => undefined, onRecovery: () => undefined };
  await (await openMonitoredPostgres(new Secret(url), callbacks)).close();
  return notes;
}

describe('PgBouncer in transaction mode', () => {
  let database: TestDatabase;
  let bouncer: TestPgBouncer;

  beforeAll(async () => {
    database = await createFreshDatabase();
    bouncer = await startPgBouncer(database.url, 'transaction');
  });

  afterAll(async () => {
    await bouncer[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  it('limits each transaction, and leaves no settings on the connections that clients share', async () => {
    await using lenient = await startPgBouncer(database.url, 'transaction', ignoring);
    for (const { url } of [bouncer, lenient]) {
      const opened = await openPostgres(url, { timeoutMs: 4_000 });
      expect(await getTransactionLimits(opened.database)).toEqual({ statement: '4s', idle: '4s' });
      expect((await queryPostgres(url, 'show statement_timeout'))[0]).toEqual({ statement_timeout: '0' });
      await opened.close();
    }
  });

  it('is not assumed if the server accepts the time limits of the connection', async () => {
    const opened = await openPostgres(database.url, { timeoutMs: 4_000 });
    const { rows } = await opened.database.run((kysely) => readLimits.execute(kysely));
    expect(rows).toEqual([{ statement: '4s', idle: '4s' }]);
    await opened.close();
  });

  it('causes advice unless the role limits single statements', async () => {
    expect(await openNotes(bouncer.url)).toEqual([expect.stringContaining('alter role USER set statement_timeout = 5000')]);
    const name = new URL(database.url).pathname.slice(1);
    await queryPostgres(database.url, `alter database ${name} set statement_timeout = 5000`);
    await using another = await startPgBouncer(database.url, 'transaction');
    expect(await openNotes(another.url)).toEqual([]);
    expect(await openNotes(database.url)).toEqual([]);
    await queryPostgres(database.url, `alter database ${name} reset statement_timeout`);
  });

  it('fails operations while it is stopped, and serves them again after a restart', async () => {
    const opened = await openPostgres(bouncer.url);
    const store = new SqlConsentStore(opened.database);
    await store.put('user', consent);
    const waiting = opened.database
      .transact((transaction) => sql`select pg_sleep(30)`.execute(transaction))
      .catch((error: unknown) => error);
    await sleep(100);
    await bouncer.stop();
    expect(await waiting).toBeInstanceOf(StoreError);
    await expect(store.find('user', 'app')).rejects.toThrow(StoreError);
    await bouncer.start();
    expect(await vi.waitFor(() => store.find('user', 'app'), 5_000)).toEqual(consent);
    await opened.close();
  });
});

it('PgBouncer in statement mode is rejected with the setting to change', async () => {
  await using statements = await startPgBouncer(await getSharedServer('postgres'), 'statement');
  const error: Error = await openPostgres(statements.url).then(
    () => expect.unreachable('it was opened'),
    (caught) => caught,
  );
  expect(String(error.cause)).toContain('Set pool_mode = transaction or session in PgBouncer');
});

describe('PostgreSQL over TLS', () => {
  const getCause = async (url: string): Promise<string> => {
    const error: Error = await openPostgres(url).then(
      () => expect.unreachable('it was opened'),
      (caught) => caught,
    );
    expect(error).toBeInstanceOf(StoreError);
    return String(error.cause);
  };

  it('verifies the certificate and the host name, and errors name the fix', async () => {
    await using certificates = await makeCertificates();
    await using server = await startPostgres('ssl=on', `ssl_cert_file=${certificates.cert}`, `ssl_key_file=${certificates.key}`);
    const toUrl = (host: string, parameters: string, password = new URL(server.url).password) => {
      const url = new URL(`${server.url}?${parameters}`);
      return Object.assign(url, { hostname: host, password }).href;
    };
    const ca = `sslrootcert=${certificates.ca}`;
    for (const mode of ['verify-full', 'require']) {
      const { database, close } = await openPostgres(toUrl('localhost', `sslmode=${mode}&${ca}`));
      const version = sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      expect((await database.run((kysely) => version.execute(kysely))).rows).toEqual([{ ssl: true }]);
      await close();
    }
    const full = `sslmode=verify-full&${ca}`;
    const cases = [
      [toUrl('localhost', 'sslmode=verify-full'), 'Set sslrootcert=FILE in PARLEY_DATABASE_URL'],
      [toUrl('localhost', 'sslmode=require&sslrootcert=system'), 'Set sslrootcert=FILE in PARLEY_DATABASE_URL'],
      [toUrl('localhost', `sslmode=verify-full&sslrootcert=${certificates.otherCa}`), 'Set sslrootcert=FILE'],
      [
        toUrl('localhost', 'sslmode=verify-full&sslrootcert=/nowhere/ca.pem'),
        'Check that the files named in PARLEY_DATABASE_URL',
      ],
      [toUrl('127.0.0.1', full), 'Use a host name in PARLEY_DATABASE_URL that'],
      [toUrl('localhost', full, 'canary'), 'Check the user and the password in PARLEY_DATABASE_URL'],
      [`${await getSharedServer('postgres')}?sslmode=verify-full`, 'Turn TLS on at the server'],
      [new URL('/no_such_database', await getSharedServer('postgres')).href, 'Create the database'],
    ] as const;
    for (const [url, fix] of cases) {
      const cause = await getCause(url);
      expect(cause).toContain(fix);
      expect(cause).not.toContain('canary');
    }
  });
});
