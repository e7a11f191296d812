import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { get, getHealth } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const adminKey = 'the-key-of-the-office';
const secret = randomBytes(32).toString('base64url');
const running: TestProcess[] = [];
let database: TestDatabase;

beforeAll(async () => {
  database = await createFreshDatabase();
});

afterAll(async () => {
  for (const node of running) await node[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Returns files with one model. The model has a secret from the environment. */
function toFiles(model: string): object {
  return {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the service replaces it.
    models: { [model]: { upstreams: [{ endpoint: 'http://127.0.0.1:9/v1', key: '${UPSTREAM_KEY}' }] } },
    keys: { office: { project: 'office', key: adminKey, role: 'admin' } },
  };
}

async function start(model: string): Promise<TestProcess> {
  const environment = { PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: secret, UPSTREAM_KEY: 'canary-of-the-upstream' };
  const node = await startProcess({ configuration: toFiles(model), environment });
  running.push(node);
  return node;
}

async function listModels(node: TestProcess): Promise<readonly string[]> {
  const { data } = (await get(node, '/v1/models', adminKey)).json as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 25_000, interval: 100 });
const untilModels = (node: TestProcess, models: readonly string[]) =>
  until(async () => expect(await listModels(node)).toEqual(models));

interface NodeItem {
  readonly id: string;
  readonly version: string;
  readonly status: string;
  readonly reasons: readonly { readonly code: string }[];
  readonly configuration: { readonly isDifferent: boolean };
}

async function listNodes(node: TestProcess): Promise<readonly NodeItem[]> {
  return ((await get(node, '/v1/admin/health', adminKey)).json as { data: NodeItem[] }).data;
}

async function stop(node: TestProcess, signal: NodeJS.Signals): Promise<void> {
  node.kill(signal);
  await node.ended;
}

describe('the configuration files of nodes on one database', () => {
  let first: TestProcess;
  let second: TestProcess;

  it('are those in force if a node starts with other files, which its health reports', async () => {
    first = await start('one');
    second = await start('two');
    expect(await listModels(second)).toEqual(['one']);
    expect(await getHealth(second)).toMatchObject({ status: 'degraded', codes: ['configuration_differs'] });
    expect(await getHealth(first)).toMatchObject({ status: 'ok', codes: [] });
    await until(async () => {
      const nodes = await listNodes(first);
      expect(nodes.map(({ version, configuration }) => [typeof version, configuration.isDifferent])).toEqual([
        ['string', false],
        ['string', true],
      ]);
      expect(nodes[1]?.reasons.map(({ code }) => code)).toEqual(['configuration_differs']);
    });
  });

  it('change on all nodes if a node reads changed files while it runs', async () => {
    await second.configure(toFiles('three'));
    for (const node of [first, second]) await untilModels(node, ['three']);
    expect((await getHealth(second)).codes).toEqual([]);
    expect((await getHealth(first)).codes).toEqual(['configuration_differs']);
    await first.configure(toFiles('three'));
    await until(async () => expect((await getHealth(first)).codes).toEqual([]));
  });

  it('are replaced by those of a new node as soon as no running node has them', async () => {
    const third = await start('four');
    expect(await listModels(third)).toEqual(['three']);
    await stop(first, 'SIGTERM');
    await stop(second, 'SIGTERM');
    await untilModels(third, ['four']);
    expect((await getHealth(third)).codes).toEqual([]);
    expect(await listNodes(third)).toHaveLength(1);
    await stop(third, 'SIGTERM');
    const fourth = await start('five');
    expect(await listModels(fourth)).toEqual(['five']);
    await stop(fourth, 'SIGKILL');
  });

  it('stay in force after a node is killed, until its lease ends', async () => {
    const node = await start('six');
    expect(await listModels(node)).toEqual(['five']);
    expect(await listNodes(node)).toHaveLength(2);
    await queryPostgres(database.url, 'update nodes set until_ms = 0 where files_digest = (select digest from file_layer)');
    await untilModels(node, ['six']);
    expect(await listNodes(node)).toHaveLength(1);
  });

  it('are not readable in the database', async () => {
    const rows = await queryPostgres(database.url, 'select * from file_layer');
    expect(rows).toHaveLength(1);
    const text = JSON.stringify([rows, await queryPostgres(database.url, 'select * from nodes')]);
    for (const value of ['canary', '"six', adminKey]) expect(text).not.toContain(value);
  });
});
