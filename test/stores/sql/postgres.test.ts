import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { Secret } from '#base/secrets/secret.ts';
import { StoreError } from '#domain/store-error.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { openPostgres } from '#stores/sql/engine/postgres.ts';
import { SqlFileIndex } from '#stores/sql/files/file-index.ts';
import { NewerDatabaseError } from '#stores/sql/migrate.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { sharedServer } from '#test/shared-server.ts';
import { freshPostgres } from '#test/sql-engines.ts';
import { startPostgres } from '#test/start-postgres.ts';

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
    const { database, close } = await openPostgres(new Secret(server.url));
    const store = new SqlConsentStore(database);
    await Promise.all(Array.from({ length: 10 }, (_, index) => store.put(`user ${index}`, consent)));
    await server.stop();
    await expectFailure(store.find('user 1', 'app'), 'the database failed');
    await expectFailure(store.put('user 1', consent), 'the database failed');
    await server.start();
    expect(await store.find('user 1', 'app')).toEqual(consent);
    await store.put('user 1', { ...consent, acceptedAtMs: 2 });
    expect(await store.find('user 1', 'app')).toMatchObject({ acceptedAtMs: 2 });
    await close();
  });

  it('fails only the running statement if it is stopped', async () => {
    await using server = await startPostgres();
    const { database, close } = await openPostgres(new Secret(server.url));
    const slow = database.run((kysely) => sql`select pg_sleep(60)`.execute(kysely));
    const slowWrite = database.transact((transaction) => sql`select pg_sleep(60)`.execute(transaction));
    const failures = [expectFailure(slow, 'the database failed'), expectFailure(slowWrite, 'the database failed')];
    await vi.waitUntil(async () => (await queryPostgres(server.url, `${backends} and state = 'active'`)).length === 2, {
      interval: 20,
    });
    await server.stop();
    await Promise.all(failures);
    await server.start();
    await new SqlConsentStore(database).put('user', consent);
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
    const wrong = new URL(await sharedServer('postgres'));
    wrong.password = 'canary-of-the-password';
    const addresses = [wrong.href, 'postgres://canary:canary@127.0.0.1:1/x', 'postgres://canary:canary@[nowhere', 'canary'];
    for (const address of addresses) {
      const error: Error = await openPostgres(new Secret(address), { timeoutMs: 1_000 }).then(
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
});
