import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { StoreError } from '#domain/store-error.ts';
import { measureMinEventLoopBlock } from '#test/event-loop-block.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { SqlApplicationStore } from '../applications/application-store.ts';
import { SqlConsentStore } from '../consents/consent-store.ts';
import { NewerDatabaseError } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import type { OpenDatabase, SqlDatabase } from './sql-database.ts';
import { openSqlite } from './sqlite.ts';

const writerScript = fileURLToPath(import.meta.resolve('#test/sqlite-writer.ts'));
const consent = { deployment: 'app', form: { app: { consentRequired: true } }, acceptedAtMs: 1 };

/** Starts a process that stores consents or responses. `waitForOutput` resolves when its output contains the text. */
function startWriter(...args: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [writerScript, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const waitForOutput = (text: string) =>
    new Promise<string>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        if (output.includes(text)) resolve(output);
      });
      child.once('exit', () => reject(new Error(`the writer exited with the output: ${output}`)));
    });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  return { waitForOutput, kill, output: () => output };
}

async function listConsents(kysely: Kysely<Schema>): Promise<string[]> {
  const rows = await kysely.selectFrom('consents').select('deployment').execute();
  return rows.map(({ deployment }) => deployment);
}

async function listResponseIds(kysely: Kysely<Schema>): Promise<string[]> {
  const rows = await kysely.selectFrom('responses').select('id').execute();
  return rows.map(({ id }) => id);
}

describe('SQLite database', () => {
  it('keeps an acknowledged write if its process is killed immediately afterwards', async () => {
    await using fresh = await freshSqlite();
    const child = startWriter(fresh.file, 'user');
    await child.waitForOutput('done');
    await child.kill();
    await using opened = await fresh.open();
    const { database } = opened;
    expect(await new SqlConsentStore(database).list('user')).toHaveLength(1);
  });

  it.each(['consents', 'responses'])('keeps acknowledged %s if its process is killed during further writes', async (kind) => {
    await using fresh = await freshSqlite();
    const child = startWriter(fresh.file, 'user', '100000', kind);
    await child.waitForOutput('put 20\n');
    await child.kill();
    await using opened = await fresh.open();
    const { database } = opened;
    const storedIds = new Set(
      await database.run((kysely) => (kind === 'consents' ? listConsents(kysely) : listResponseIds(kysely))),
    );
    const acknowledgedIds = child.output().match(/\d+(?=\n)/g) ?? [];
    expect(acknowledgedIds.length).toBeGreaterThan(20);
    expect(acknowledgedIds.filter((id) => !storedIds.has(id))).toEqual([]);
  });

  it('retains little memory for inserts with different numbers of rows', async () => {
    await using fresh = await freshSqlite();
    const script = fileURLToPath(import.meta.resolve('#test/usage-writer.ts'));
    const { stdout } = await promisify(execFile)(process.execPath, [script, fresh.file]);
    // The memory grew by 115 MB while 100 prepared statements were cached regardless of their size.
    expect(Number(/grew by (\d+) MB/.exec(stdout)?.[1])).toBeLessThan(60);
  });

  it('opens in processes that start together and accepts writes from all of them', async () => {
    await using fresh = await freshSqlite();
    const children = ['one', 'two', 'three'].map((subject) => startWriter(fresh.file, subject, '25'));
    await Promise.all(children.map(({ waitForOutput }) => waitForOutput('done')));
    await Promise.all(children.map(({ kill }) => kill()));
    await using opened = await fresh.open();
    const { database } = opened;
    for (const subject of ['one', 'two', 'three']) expect(await new SqlConsentStore(database).list(subject)).toHaveLength(25);
  });

  it('is accessible only to its user and contains no secret in plain text', async () => {
    await using fresh = await freshSqlite();
    await using opened = await fresh.open();
    const { database } = opened;
    const entry = {
      endpoint: 'https://app.test/?key=canary',
      features: { consentRequired: false },
      defaults: {},
      dependencies: [],
      maxRetryAttempts: 1,
    };
    const application = { id: 'applications/b/a', owner: 'o', entry, etag: 'e', createdAtMs: 1, updatedAtMs: 1 };
    await new SqlApplicationStore(database, new Seal([new Secret('a secret')])).put(application, undefined);
    const folder = dirname(fresh.file);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const names = await readdir(folder);
    expect(names).toContain('parley.db');
    let found = '';
    for (const name of names) {
      expect((await stat(`${folder}/${name}`)).mode & 0o777).toBe(0o600);
      found += await readFile(`${folder}/${name}`, 'latin1');
    }
    expect(found).toContain('applications/b/a');
    expect(found).not.toContain('canary');
  });

  it('rejects tables of a later version and leaves them unchanged', async () => {
    await using fresh = await freshSqlite();
    await (await fresh.open()).close();
    const raw = new DatabaseSync(fresh.file);
    raw.exec('insert into parley_migrations (version) values (1000)');
    await expect(fresh.open()).rejects.toThrow(NewerDatabaseError);
    await expect(fresh.open()).rejects.toThrow(/version 1000.*up to \d+\. Start the version/);
    raw.exec('delete from parley_migrations where version = 1000');
    raw.close();
    await (await fresh.open()).close();
  });

  it('fails to open with StoreError if the file is not a database or cannot be created', async () => {
    await using fresh = await freshSqlite();
    await (await fresh.open()).close();
    await writeFile(fresh.file, 'This file contains text. It is not a database, but it is long enough for one. '.repeat(100));
    const opening = fresh.open();
    await expect(opening).rejects.toThrow(StoreError);
    await expect(opening).rejects.toMatchObject({ cause: expect.any(Error), message: expect.not.stringContaining(fresh.file) });
    await expect(openSqlite(`${fresh.file}/below/parley.db`)).rejects.toThrow(StoreError);
  });

  it('isolates the reads and writes of a transaction from transactions of other nodes', async () => {
    await using fresh = await freshSqlite();
    const nodes = [await fresh.open(), await fresh.open()];
    const increment = ({ database }: OpenDatabase) =>
      database.transact(async (transaction) => {
        const before = await transaction.selectFrom('buckets').select('used_bytes').executeTakeFirst();
        const row = { bucket: 'b', used_bytes: (before?.used_bytes ?? 0) + 1 };
        await transaction.replaceInto('buckets').values(row).execute();
        return row.used_bytes;
      });
    const counts = await Promise.all(Array.from({ length: 10 }, () => nodes.map(increment)).flat());
    expect(Math.max(...counts)).toBe(20);
    for (const { close } of nodes) await close();
  });

  it('does not block the event loop while many operations wait, and runs them in order', async () => {
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open();
    const order: number[] = [];
    const blockedMs = await measureMinEventLoopBlock(250, async () => {
      order.length = 0;
      const operations = Array.from({ length: 10_000 }, (_, nth) => database.run(async () => order.push(nth)));
      await Promise.allSettled(operations);
    });
    expect(blockedMs).toBeLessThan(250);
    expect(order).toEqual(order.toSorted((left, right) => left - right));
    await close();
  });

  it('reads a snapshot without a lock, while another process writes and drops a table', async () => {
    await using fresh = await freshSqlite();
    await (await fresh.open()).close();
    const acquireWriteLock = vi.fn(async () => () => undefined);
    const { database, close } = await openSqlite(fresh.file, { acquireWriteLock });
    acquireWriteLock.mockClear();
    const other = new DatabaseSync(fresh.file);
    await database.readSnapshot(async (snapshot) => {
      expect(await listConsents(snapshot)).toEqual([]);
      for (const statement of ['begin immediate', 'drop table usage_records', 'commit', 'begin immediate']) other.exec(statement);
      expect(await snapshot.selectFrom('usage_records').select('id').execute()).toEqual([]);
    });
    other.exec('rollback');
    expect(acquireWriteLock).not.toHaveBeenCalled();
    await new SqlConsentStore(database).put('user', consent);
    expect(acquireWriteLock).toHaveBeenCalledOnce();
    other.close();
    await close();
  });

  it('waits for another process without blocking this one', async () => {
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open();
    const other = new DatabaseSync(fresh.file);
    other.exec('begin immediate');
    const pendingWrite = new SqlConsentStore(database).put('user', consent);
    await sleep(50);
    other.exec('commit');
    await pendingWrite;
    expect(await new SqlConsentStore(database).find('user', 'app')).toEqual(consent);
    other.close();
    await close();
  });

  it('waits no longer than its time limit', async () => {
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open({ timeoutMs: 100 });
    const store = new SqlConsentStore(database);
    const other = new DatabaseSync(fresh.file);
    other.exec('begin immediate');
    const outcomes = await Promise.allSettled([store.put('user', consent), store.put('user', consent)]);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: expect.any(StoreError) })));
    other.exec('rollback');
    other.close();
    await vi.waitUntil(
      () =>
        store
          .put('user', consent)
          .then(() => true)
          .catch(() => false),
      { interval: 20 },
    );
    await close();
  });

  it('does not count a pause of the process toward the time limit', async () => {
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open({ timeoutMs: 200 });
    const pendingWrite = new SqlConsentStore(database).put('user', consent);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    await pendingWrite;
    await close();
  });

  it('does not execute work whose time limit has expired', async () => {
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open({ timeoutMs: 100 });
    const store = new SqlConsentStore(database);
    const lateTransaction = database.transact(async (transaction) => {
      await transaction.insertInto('buckets').values({ bucket: 'b', used_bytes: 1 }).execute();
      await sleep(200);
    });
    const waitingWrite = store.put('user', consent);
    await expect(lateTransaction).rejects.toThrow(StoreError);
    await expect(waitingWrite).rejects.toThrow(StoreError);
    await vi.waitUntil(async () => (await store.list('user').catch(() => undefined)) !== undefined, { interval: 20 });
    await close();
    const raw = new DatabaseSync(fresh.file);
    expect(raw.prepare('select subject from consents union select bucket from buckets').all()).toEqual([]);
    raw.close();
  });

  describe('on a full disk', () => {
    const setMaxPages = ({ database }: OpenDatabase, pages: number) =>
      database.run((kysely) => sql`pragma max_page_count = ${sql.lit(pages)}`.execute(kysely));
    const large = { ...consent, form: { ['x'.repeat(100_000)]: { consentRequired: true } } };

    it.each([
      ['one statement', (database: SqlDatabase) => new SqlConsentStore(database).put('user', large)],
      [
        'a transaction',
        (database: SqlDatabase) =>
          database.transact((transaction) =>
            transaction
              .insertInto('buckets')
              .values({ bucket: 'b'.repeat(100_000), used_bytes: 1 })
              .execute(),
          ),
      ],
    ])('reports the full disk as the cause if %s fails', async (_, write) => {
      await using fresh = await freshSqlite();
      await using opened = await fresh.open();
      await setMaxPages(opened, 1);
      const message = 'The store is currently unavailable: the disk of the database is full. Try again.';
      const cause = expect.objectContaining({ message: 'database or disk is full' });
      await expect(write(opened.database)).rejects.toMatchObject({ message, cause });
    });

    it('rejects writes, reports the outage once, still reads, and accepts writes again after space is available', async () => {
      await using fresh = await freshSqlite();
      const reports: unknown[] = [];
      const opened = await openSqlite(
        fresh.file,
        {},
        { onOutage: (error) => reports.push(error), onRecovery: () => reports.push('back') },
      );
      const store = new SqlConsentStore(opened.database);
      await store.put('user', consent);
      await setMaxPages(opened, 1);
      expect(opened.isWritable()).toBe(true);
      for (let nth = 0; nth < 3; nth += 1) await expect(store.put('user', large)).rejects.toThrow(StoreError);
      await vi.waitUntil(() => !opened.isWritable(), { interval: 5 });
      expect(await store.find('user', 'app')).toEqual(consent);
      await setMaxPages(opened, 1_000_000);
      await vi.waitUntil(() => opened.isWritable(), { interval: 20, timeout: 10_000 });
      await store.put('user', large);
      expect(reports).toEqual([expect.objectContaining({ message: 'database or disk is full' }), 'back']);
      await opened.close();
      const raw = new DatabaseSync(fresh.file);
      expect(raw.prepare("select name from sqlite_master where name = 'parley_trial'").all()).toEqual([]);
      raw.close();
    });

    it('does not mistake other errors for a full disk', async () => {
      await using fresh = await freshSqlite();
      const onOutage = vi.fn();
      const opened = await openSqlite(fresh.file, {}, { onOutage, onRecovery: () => undefined });
      await expect(opened.database.run((kysely) => sql`select nothing`.execute(kysely))).rejects.toThrow(StoreError);
      await setMaxPages(opened, 1_000_000);
      await opened.close();
      expect([opened.isWritable(), onOutage.mock.calls]).toEqual([true, []]);
    });
  });

  it('rejects operations after it is closed', async () => {
    await using fresh = await freshSqlite();
    const { database, close } = await fresh.open();
    await close();
    await expect(new SqlConsentStore(database).find('user', 'app')).rejects.toThrow(StoreError);
  });
});
