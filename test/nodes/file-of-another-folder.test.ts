import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';
import { get, getHealth, secret } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const configuration = { models: { demo: { upstreams: [{ protocol: 'demo' }] } } };
const headers = { 'api-key': callerKey, 'content-type': 'text/plain' };
const claimIn = /create a file \\?"parley-database\\?" with the text \\?"([^"\\]+)\\?" there/;

let database: TestDatabase;
let folder: TemporaryFolder;
let path: string;

/** Starts a node on the database with a data folder of this name. */
function start(data: string): Promise<TestProcess> {
  const environment = { PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: secret };
  return startProcess({ configuration, environment, flags: ['--data', join(folder.path, data)] });
}

async function put(node: TestProcess, name: string): Promise<number> {
  return (await node.sendRequest({ method: 'PUT', path: `${path}/${name}`, headers, body: name })).status;
}

beforeAll(async () => {
  [database, folder] = await Promise.all([createFreshDatabase(), openFolder()]);
  await using first = await start('one');
  const { bucket } = (await get(first, '/v1/bucket')).json as { bucket: string };
  path = `/v1/files/${bucket}`;
  expect(await put(first, 'kept.txt')).toBe(200);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe('two nodes on one database', () => {
  it('with separate folders reject file requests on the second node, which reports the reason in /health', async () => {
    await using node = await start('two');
    const rejection = await get(node, `${path}/kept.txt`);
    expect([rejection.status, rejection.error.code, rejection.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    expect(rejection.error.message).toContain('the file contents are in a location that this node cannot reach');
    expect(await put(node, 'lost.txt')).toBe(503);
    expect(await readdir(join(folder.path, 'two/files'))).toEqual([]);
    expect(await getHealth(node)).toMatchObject({ status: 'degraded', codes: ['files_elsewhere'], ready: 200 });
    expect((await node.chat('demo', { messages: hello })).status).toBe(200);
    await using first = await start('one');
    expect((await get(first, `${path}/kept.txt`)).text).toBe('kept.txt');
    expect((await get(first, `${path}/lost.txt`)).status).toBe(404);
    expect(await getHealth(first)).toMatchObject({ status: 'ok' });
  });

  it('with one files folder share their files', async () => {
    await mkdir(join(folder.path, 'three'));
    await symlink(join(folder.path, 'one/files'), join(folder.path, 'three/files'));
    await writeFile(join(folder.path, 'one/files/upload-under-way.part'), 'half');
    const [one, three] = await Promise.all([start('one'), start('three')]);
    await using first = one;
    await using third = three;
    expect(await put(third, 'of-three.txt')).toBe(200);
    expect((await get(first, `${path}/of-three.txt`)).text).toBe('of-three.txt');
    expect((await get(third, `${path}/kept.txt`)).text).toBe('kept.txt');
    expect(await getHealth(third)).toMatchObject({ status: 'ok' });
    expect(await readdir(join(folder.path, 'one/files'))).toContain('upload-under-way.part');
  });
});

describe('files folder that is lost permanently', () => {
  it('is replaced by the folder that the operator claims as the log describes', async () => {
    const files = join(folder.path, 'new/files');
    {
      await using node = await start('new');
      await node.untilOutput(claimIn);
      expect(await put(node, 'new.txt')).toBe(503);
      const [, claim = ''] = claimIn.exec(node.output.stdout) ?? [];
      expect(claim).toBe(await readFile(join(folder.path, 'one/files/parley-database'), 'utf8'));
      await writeFile(join(files, 'parley-database'), `${claim}\n`);
      expect(await put(node, 'new.txt')).toBe(200);
      expect(await getHealth(node)).toMatchObject({ status: 'ok' });
    }
    await using node = await start('new');
    expect((await get(node, `${path}/new.txt`)).text).toBe('new.txt');
  });
});

describe('database of an earlier version without a stored file location', () => {
  it('uses the folder that contains its files, and no other', async () => {
    await queryPostgres(database.url, 'update database_name set contents_place = null');
    await rm(join(folder.path, 'one/files/parley-database'), { force: true });
    await using empty = await start('empty');
    expect((await get(empty, `${path}/kept.txt`)).status).toBe(503);
    await using first = await start('one');
    expect((await get(first, `${path}/kept.txt`)).text).toBe('kept.txt');
    expect((await get(empty, `${path}/kept.txt`)).status).toBe(503);
    expect(await put(first, 'more.txt')).toBe(200);
  });
});
