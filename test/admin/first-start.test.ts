import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFreshDatabase } from '#test/fresh-database.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';

let folder: Awaited<ReturnType<typeof openFolder>>;
beforeEach(async () => {
  folder = await openFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

const pattern = /"firstStartToken":"([^"]+)"/;
const models = { demo: { upstreams: [{ protocol: 'demo' }] } };

/** Starts a node on the folder. Null starts the demo. */
const start = (configuration: object | null) => startProcess({ configuration, flags: ['--data', folder.path] });

async function readToken(node: TestProcess): Promise<string> {
  await node.untilOutput(pattern);
  return pattern.exec(node.output.stdout)?.[1] ?? '';
}

const exchange = (node: TestProcess, token: string) =>
  node.sendRequest({ path: '/v1/admin/first-start', headers: { 'content-type': 'application/json' }, body: { token } });

async function readSignIn(node: TestProcess): Promise<unknown> {
  return (await node.sendRequest({ method: 'GET', path: '/v1/sign-in' })).json;
}

const readState = (node: TestProcess, key: string) =>
  node.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': key } });

describe('the token of the first start', () => {
  it.each([
    ['the demo', null],
    ['a configuration without an administrator', { models }],
  ])('is exchanged once for a key that survives a kill, with %s', async (_name, configuration) => {
    await using node = await start(configuration);
    const token = await readToken(node);
    expect((await exchange(node, `${token}x`)).status).toBe(401);
    expect(await readSignIn(node)).toEqual({ object: 'list', data: [], firstStart: true });
    const exchanged = await exchange(node, token);
    const { id, key } = exchanged.json as { id: string; key: string };
    expect([exchanged.status, id]).toEqual([201, expect.stringMatching(/^key_/)]);
    expect(await readSignIn(node)).toEqual({ object: 'list', data: [] });
    node.kill('SIGKILL');
    await node.ended;

    await using restarted = await start(configuration);
    expect((await readState(restarted, key)).status).toBe(200);
    expect((await exchange(restarted, token)).status).toBe(401);
    expect(restarted.output.stdout).not.toMatch(pattern);
    expect(restarted.output.stdout + restarted.output.stderr).not.toContain(key);
  });

  it('ends with the process if it was not used', async () => {
    await using node = await start({ models });
    const token = await readToken(node);
    node.kill('SIGKILL');
    await node.ended;
    await using restarted = await start({ models });
    expect(await readToken(restarted)).not.toBe(token);
    expect((await exchange(restarted, token)).status).toBe(401);
  });

  it('is not offered if the files have an administrator', async () => {
    await using node = await start({ models, keys: { office: { project: 'office', key: 'a-key', role: 'admin' } } });
    expect((await exchange(node, 'x')).status).toBe(401);
    expect(node.output.stdout).not.toMatch(pattern);
  });

  it('creates one administrator if the tokens of two nodes on one database are used concurrently', async () => {
    await using database = await createFreshDatabase();
    const secret = randomBytes(32).toString('base64url');
    const environment = { PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: secret };
    const nodes = await Promise.all([1, 2].map(() => startProcess({ configuration: { models }, environment })));
    try {
      const tokens = await Promise.all(nodes.map(readToken));
      const exchanged = await Promise.all(nodes.map((node, index) => exchange(node, tokens[index] ?? '')));
      expect(exchanged.map(({ status }) => status).sort()).toEqual([201, 409]);
      const refused = exchanged.find(({ status }) => status === 409);
      expect(refused?.json).toMatchObject({ error: { code: 'administrator_exists' } });
    } finally {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    }
  });
});
