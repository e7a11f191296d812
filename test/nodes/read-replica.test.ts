import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { createTables } from '#test/sql-stores.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { get, secret } from './cluster.ts';

let database: TestDatabase;
let replica: TestDatabase;

beforeAll(async () => {
  [database, replica] = await Promise.all([createFreshDatabase(), createFreshDatabase()]);
  await createTables(replica.url);
  await changeReplica('set default_transaction_read_only = on');
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await replica[Symbol.asyncDispose]();
});

async function changeReplica(setting: string): Promise<void> {
  await queryPostgres(database.url, `alter database ${new URL(replica.url).pathname.slice(1)} ${setting}`);
}

function start(replicaUrl: string): Promise<TestProcess> {
  return startProcess({
    configuration: {
      models: { demo: { upstreams: [{ protocol: 'demo' }] } },
      keys: { [callerKey]: { project: 'test', role: 'admin' } },
    },
    environment: {
      PARLEY_DATABASE_URL: database.url,
      PARLEY_DATABASE_REPLICA_URL: replicaUrl,
      PARLEY_DATABASE_POOL: '2',
      PARLEY_SECRET: secret,
    },
  });
}

async function countCalls(node: TestProcess): Promise<number> {
  return ((await get(node, '/v1/admin/calls')).json as { readonly data: readonly unknown[] }).data.length;
}

it('reports come from the read replica, and from the database if the replica fails', async () => {
  await using node = await start(replica.url);
  for (let calls = 0; calls < 3; calls += 1) expect((await node.chat('demo', { messages: hello })).status).toBe(200);
  const countRecords = async () => Number((await queryPostgres(database.url, 'select count(*) from usage_records'))[0]?.count);
  await vi.waitFor(async () => expect(await countRecords()).toBe(3), 8_000);
  expect(await countCalls(node)).toBe(0);
  await changeReplica('reset default_transaction_read_only');
  await queryPostgres(replica.url, 'drop schema public cascade');
  expect(await countCalls(node)).toBe(3);
  await Promise.all(Array.from({ length: 30 }, () => get(node, '/v1/consent')));
  const backends = `select 1 from pg_stat_activity where datname = current_database() and application_name = 'parley'`;
  expect((await queryPostgres(database.url, backends)).length).toBeLessThanOrEqual(3);
});

it('a node starts without its read replica', async () => {
  await using node = await start('postgres://parley:canary@127.0.0.1:1/parley');
  await node.untilOutput(/the read replica is unreachable, so reports use the database/);
  expect(await countCalls(node)).toBe(3);
  expect(node.output.stdout).not.toContain('canary');
});
