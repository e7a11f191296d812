import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { findFreePort } from '#test/listening.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { createTables } from '#test/sql-stores.ts';
import { startPostgres, type TestPostgres } from '#test/start-postgres.ts';
import { runCommand, startProcess } from '#test/start-process.ts';
import { startRedis } from '#test/start-redis.ts';
import { withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { demoQuickApp, get, getHealth, secret } from './cluster.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const configuration = {
  models: { demo: { upstreams: [{ protocol: 'demo' }] } },
  roles: { default: { limits: { demo: { requestDay: 100 } } } },
};

let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres[Symbol.asyncDispose]());

describe('node that starts without PostgreSQL', () => {
  it('listens, serves other calls, reports why it is not ready, and becomes ready automatically', async () => {
    await postgres.stop();
    const environment = { PARLEY_DATABASE_URL: postgres.url, PARLEY_SECRET: secret };
    await using node = await startProcess({ configuration, environment });
    await node.untilOutput(/the shared database is unreachable/);
    expect(await getHealth(node)).toMatchObject({ codes: ['database_away'], ready: 503, hindrances: ['database_away'] });
    expect((await node.chat('demo', { messages: hello })).status).toBe(200);
    const rejection = await get(node, '/v1/consent');
    expect([rejection.status, rejection.error.code]).toEqual([503, 'overloaded']);
    await postgres.start();
    await vi.waitFor(async () => expect(await getHealth(node)).toMatchObject({ status: 'ok', ready: 200 }), {
      timeout: 15_000,
      interval: 100,
    });
    expect((await get(node, '/v1/consent')).json).toMatchObject({ data: [] });
    await postgres.stop();
    await vi.waitFor(
      async () => {
        await get(node, '/v1/consent');
        expect(await getHealth(node)).toMatchObject({ codes: ['database_away'], ready: 200 });
      },
      { timeout: 15_000, interval: 100 },
    );
    await postgres.start();
  });
});

describe('node that starts before a PostgreSQL with a newer schema', () => {
  it('reports the version and is not ready', async () => {
    await queryPostgres(postgres.url, 'create database later');
    const { href: url } = new URL('/later', postgres.url);
    await createTables(url);
    await queryPostgres(url, 'insert into parley_migrations (version) values (1000)');
    await postgres.stop();
    const environment = { PARLEY_DATABASE_URL: url, PARLEY_SECRET: secret };
    await using node = await startProcess({ configuration, environment });
    await postgres.start();
    await node.untilOutput(/the database has schema version 1000/);
    expect(await getHealth(node)).toMatchObject({ codes: ['database_away'], ready: 503 });
    expect((await node.chat('demo', { messages: hello })).status).toBe(200);
  });
});

describe('node that starts without Redis', () => {
  it('listens, reports why it is not ready, and becomes ready automatically', async () => {
    const port = await findFreePort();
    const environment = { PARLEY_REDIS_URL: `redis://127.0.0.1:${port}`, PARLEY_SECRET: secret };
    await using node = await startProcess({ configuration, environment });
    await node.untilOutput(/Redis is unavailable/);
    expect(await getHealth(node)).toMatchObject({ codes: ['redis_away'], ready: 503, hindrances: ['redis_away'] });
    expect((await node.chat('demo', { messages: hello })).status).toBe(503);
    await using _redis = await startRedis('--port', String(port));
    await vi.waitFor(async () => expect(await getHealth(node)).toMatchObject({ status: 'ok', ready: 200 }), {
      timeout: 15_000,
      interval: 100,
    });
    expect((await node.chat('demo', { messages: hello })).status).toBe(200);
  });
});

describe('node', () => {
  it('ends with the reason if PostgreSQL rejects the password or the database', async () => {
    await using temporary = await openFolder();
    const { path: folder } = temporary;
    const wrong = new URL(postgres.url);
    wrong.password = 'canary-password';
    const elsewhere = new URL('/no_such_database', postgres.url);
    for (const [url, message] of [
      [wrong, /password authentication failed/],
      [elsewhere, /no_such_database/],
    ] as const) {
      const { code, stderr, stdout } = await runCommand(['serve', '--port', '0', '--data', folder], {
        PARLEY_DATABASE_URL: url.href,
        PARLEY_SECRET: secret,
      });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^parley: the database of PARLEY_DATABASE_URL cannot be opened: /m);
      expect(stderr).toMatch(message);
      expect(stderr + stdout).not.toContain('canary');
    }
  });
});

describe('secret that is replaced', () => {
  it('encrypts applications again at the next start, so that the old secret can be removed', async () => {
    await using temporary = await openFolder();
    const { path: data } = temporary;
    const [older, newer] = ['older secret of some length, 1234', 'newer secret of some length, 5678'];
    const start = (secrets: string) =>
      startProcess({ configuration, environment: { PARLEY_SECRET: secrets }, flags: ['--data', data] });
    let path = '';
    {
      await using node = await start(older);
      const { bucket } = (await get(node, '/v1/bucket')).json as { bucket: string };
      path = `/v1/applications/${bucket}/kept`;
      expect((await node.sendRequest({ method: 'PUT', path, headers: withKey(), body: demoQuickApp })).status).toBe(201);
    }
    {
      await using node = await start(`${newer},${older}`);
      await node.untilOutput(/is encrypted with the newest secret: 1 values changed/);
    }
    {
      await using node = await start(newer);
      expect((await get(node, path)).json).toMatchObject({ displayName: demoQuickApp.displayName });
    }
    await using nodeWithOldSecret = await start(older);
    await nodeWithOldSecret.untilOutput(/cannot read all stored data with the secrets of PARLEY_SECRET/);
    expect((await get(nodeWithOldSecret, path)).status).toBe(503);
  });
});

describe('log of a node that starts', () => {
  it('reports a short secret and state that is not shared', async () => {
    await using redis = await startRedis();
    const environment = { PARLEY_REDIS_URL: redis.url, PARLEY_SECRET: 'canary-short' };
    await using node = await startProcess({ configuration, environment });
    await node.untilOutput(/"level":"warn".*PARLEY_SECRET is shorter than 32 characters/);
    await node.untilOutput(/"level":"warn".*PARLEY_DATABASE_URL is not: nodes do not share the configuration/);
    await node.untilOutput(/"level":"warn".*PARLEY_FILES_URL is not: nodes do not share the contents/);
    expect(node.output.stdout).not.toContain('canary');
  });
});
