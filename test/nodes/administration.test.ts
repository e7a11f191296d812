import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, it, vi } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { createFreshDatabase } from '#test/fresh-database.ts';
import { jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { getSharedServer } from '#test/shared-server.ts';
import { runCommand, startProcess, type TestProcess } from '#test/start-process.ts';

vi.setConfig({ testTimeout: 120_000 });

const within = { timeout: 20_000, interval: 50 };
const upstreamKey = 'a-secret-of-the-upstream';
const webhookSecret = 'a secret of this test';
const tokenPattern = /"firstStartToken":"([^"]+)"/;

interface Key {
  readonly id: string;
  readonly key: string;
}

/** An administrator of a node, with the command line and the API. */
interface Administrator {
  readonly id: string;
  send<Result = object>(method: string, path: string, body?: object): Promise<Result>;
  /** Runs `parley`, and returns its output. Fails if it does not end with this code. */
  run(args: readonly string[], code?: number, environment?: Readonly<Record<string, string>>): Promise<string>;
}

/** Exchanges the token in the log of a node for an admin key. */
async function becomeAdministrator(node: TestProcess): Promise<Administrator> {
  await node.untilOutput(tokenPattern);
  const token = tokenPattern.exec(node.output.stdout)?.[1];
  const type = { 'content-type': 'application/json' };
  const { json } = await node.sendRequest({ path: '/v1/admin/first-start', headers: type, body: { token } });
  const { id, key } = json as Key;
  return {
    id,
    async send<Result>(method: string, path: string, body?: object) {
      const request = { method, path: `/v1/admin/${path}`, headers: { ...type, 'api-key': key }, ...(body && { body }) };
      const { status, text } = await node.sendRequest(request);
      expect([path, status, status < 300 ? '' : text]).toEqual([path, expect.any(Number), '']);
      return (text === '' ? {} : JSON.parse(text)) as Result;
    },
    async run(args, code = 0, environment = {}) {
      const ended = await runCommand(args, { PARLEY_URL: node.url, PARLEY_KEY: key, ...environment });
      expect(ended, ended.stderr).toMatchObject({ code });
      expect(ended.stdout + ended.stderr).not.toContain(upstreamKey);
      return ended.stdout;
    },
  };
}

async function getStatus(node: TestProcess, key: string): Promise<number> {
  return (await node.sendRequest({ method: 'GET', path: '/v1/models/gpt', headers: { 'api-key': key } })).status;
}

async function call(node: TestProcess, key: string): Promise<number> {
  const headers = { 'api-key': key, 'content-type': 'application/json' };
  return (await node.sendRequest({ path: '/v1/chat/completions', headers, body: { model: 'gpt', messages: hello } })).status;
}

it('three empty nodes get a model, a project, and a key, spend the budget, and are copied to an empty instance', async () => {
  await using database = await createFreshDatabase();
  await using folder = await makeFolder();
  await using upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  await using receiver = await startScriptedUpstream(jsonReply({}));
  // Only settings such as alerts are in the file. Entries are created at run time.
  const alert = { of: 'project:team', window: 'cost.month', at: [1], url: receiver.url, secret: webhookSecret };
  const environment = {
    PARLEY_DATABASE_URL: database.url,
    PARLEY_REDIS_URL: await getSharedServer('redis'),
    PARLEY_SECRET: randomBytes(32).toString('base64url'),
  };
  const start = () => startProcess({ configuration: { keys: {}, alerts: [alert] }, environment });
  const nodes = await Promise.all([start(), start(), start()]);
  const [first, second, third] = nodes;
  await using stack = new AsyncDisposableStack();
  for (const node of nodes) stack.use(node);
  const onEachNode = (key: string, expected: number) =>
    Promise.all(nodes.map((node) => vi.waitFor(async () => expect(await getStatus(node, key)).toBe(expected), within)));

  const admin = await becomeAdministrator(first);
  const document = {
    models: { gpt: { upstreams: [{ endpoint: upstream.endpoint, key: upstreamKey }], pricing: { request: 1 } } },
    projects: { team: { costLimit: { month: 3 } } },
  };
  const file = await folder.write('entries.json', JSON.stringify(document));
  expect(await admin.run(['diff', '-f', file], 1)).toContain('+ models.gpt');
  expect(await admin.run(['apply', '-f', file])).toMatch(/2 created, 0 updated, 0 deleted/);
  const { id, key } = await admin.send<Key>('POST', 'keys', { project: 'team', name: 'CI' });
  await onEachNode(key, 200);

  for (const node of nodes) expect(await call(node, key)).toBe(200);
  for (const node of nodes) expect(await call(node, key)).toBe(429);
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), within);
  const [{ text, headers } = expect.unreachable()] = receiver.requests;
  const verified = new Webhook(webhookSecret, { format: 'raw' }).verify(text, headers as Record<string, string>);
  expect(verified).toMatchObject({ data: { of: 'project:team', window: 'cost.month', threshold: 1, used: 3, limit: 3 } });

  const rotated = await admin.send<Key>('POST', `keys/${id}/rotate`, {});
  await onEachNode(key, 401);
  await onEachNode(rotated.key, 200);

  const exported = await admin.run(['export']);
  await admin.send('PUT', 'projects/team', { costLimit: { month: 100 } });
  await vi.waitFor(async () => expect(await call(third, rotated.key)).toBe(200), within);
  const { data } = await admin.send<{ data: readonly Key[] }>('GET', 'changes?limit=1');
  await admin.send('POST', `changes/${data[0]?.id}/rollback`);
  await vi.waitFor(async () => expect(await call(second, rotated.key)).toBe(429), within);
  expect(await admin.run(['export'])).toBe(exported);

  await admin.send('DELETE', `keys/${id}`);
  await onEachNode(rotated.key, 401);

  const source = await admin.run(['export']);
  const sourceFile = await folder.write('export.yaml', source);
  await using copy = await startProcess({ configuration: { keys: {} } });
  const copyAdmin = await becomeAdministrator(copy);
  // The export names a variable for each secret.
  const secrets = { MODELS_GPT_UPSTREAMS_0_KEY: upstreamKey };
  await copyAdmin.run(['apply', '-f', sourceFile], 0, secrets);
  expect(await copyAdmin.run(['diff', '-f', sourceFile], 0, secrets)).toMatch(/^0 to create, 0 to update, 0 to delete/);
  const original = await admin.send<{ keys: object }>('GET', 'export');
  const { keys, ...rest } = await copyAdmin.send<{ keys: Record<string, unknown> }>('GET', 'export');
  const { [copyAdmin.id]: ownKey, ...otherKeys } = keys;
  expect({ ...rest, keys: otherKeys }).toEqual(original);
  expect(ownKey).toBeDefined();
  const { key: keyOfCopy } = await copyAdmin.send<Key>('POST', 'keys', { project: 'team' });
  expect(await call(copy, keyOfCopy)).toBe(200);
  expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${upstreamKey}`);
  expect(receiver.requests).toHaveLength(1);
});
