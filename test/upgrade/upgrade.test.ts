import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFreshDatabase } from '#test/fresh-database.ts';
import { queryPostgres } from '#test/query-postgres.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';
import type { UpgradeFixture } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const suffix = '.json.gz';
const names = (await readdir(import.meta.dirname)).filter((name) => name.endsWith(suffix));

async function readFixture(name: string): Promise<UpgradeFixture> {
  return JSON.parse(gunzipSync(await readFile(join(import.meta.dirname, name))).toString());
}

/** Writes the data folder and the database of a fixture, and starts this version on them. */
async function startOn({ configuration, files, dump, secret }: UpgradeFixture): Promise<TestProcess> {
  const folder = await openFolder();
  const data = join(folder.path, 'data');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(data, name)), { recursive: true });
    await writeFile(join(data, name), Buffer.from(content, 'base64'));
  }
  const database = dump === undefined ? undefined : await createFreshDatabase();
  if (database !== undefined) await queryPostgres(database.url, dump ?? '');
  const environment = database && { PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: secret ?? '' };
  const node = await startProcess({ configuration, flags: ['--data', data], ...(environment && { environment }) });
  return {
    ...node,
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

it('has a fixture of 0.1.0 for SQLite and for PostgreSQL', () => {
  expect(names).toEqual(expect.arrayContaining(['0.1.0-postgres.json.gz', '0.1.0-sqlite.json.gz']));
});

describe.each(names)('data of %s', (name) => {
  let fixture: UpgradeFixture;
  let node: TestProcess;
  let key = '';

  beforeAll(async () => {
    fixture = await readFixture(name);
    node = await startOn(fixture);
    [key = ''] = Object.keys(fixture.configuration.keys);
  });
  afterAll(() => node[Symbol.asyncDispose]());

  function send(method: string, path: string, body?: unknown, credentials = key): Promise<TestResponse> {
    const headers = { authorization: `Bearer ${credentials}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
    return sendRequest(node.url, { method, path, headers, body });
  }
  const findAnswer = (pattern: RegExp) =>
    fixture.answers.find(({ path }) => pattern.test(path)) ?? { path: '', key: '', body: {} };

  it('is read with the answers of the version that stored it', async () => {
    expect(fixture.answers.length).toBeGreaterThan(30);
    for (const { key: credentials, path, body } of fixture.answers) {
      const response = await send('GET', path, undefined, credentials);
      const answer = [path, response.status, typeof body === 'string' ? response.text : response.json];
      // Later versions may add fields.
      expect.soft(answer).toMatchObject([path, 200, body]);
    }
  });

  it('is used and changed', async () => {
    const succeed = async (method: string, path: string, body?: unknown, credentials?: string): Promise<string> => {
      const { status, text } = await send(method, path, body, credentials);
      expect([path, status < 300 ? 'success' : text]).toEqual([path, 'success']);
      return text;
    };
    const question = { messages: [{ role: 'user', content: 'How many days of vacation do employees get?' }] };
    const app = findAnswer(/^\/v1\/applications\/.*\/./);
    const model = app.path.replace('/v1/', '');
    // The sealed entry, the document, and its index.
    expect(await succeed('POST', '/v1/chat/completions', { ...question, model })).toContain('30 days');
    // The key that is shown as asterisks stays stored.
    expect(JSON.stringify(app.body)).toContain('"key":"***"');
    await succeed('PUT', app.path, app.body);
    const versions = JSON.parse(await succeed('GET', app.path.replace('/v1/', '/v1/versions/'))) as { data: object[] };
    expect(versions.data).toHaveLength(3);
    // The consent is in force.
    await succeed('POST', '/v1/chat/completions', { ...question, model: 'guarded' });
    const { body: response } = findAnswer(/^\/v1\/responses\/resp_\w+$/);
    const { body: conversation } = findAnswer(/^\/v1\/conversations\/conv_\w+$/);
    const request = { model: 'demo', input: 'What did I say?' };
    await succeed('POST', '/v1/responses', { ...request, previous_response_id: (response as { id: string }).id });
    await succeed('POST', '/v1/responses', { ...request, conversation: (conversation as { id: string }).id });
    const turn = { id: 'n', parent: 'r', kind: 'question', atMs: 3, text: 'And Bergen?' };
    await succeed('POST', '/v1/chats/trip', { turns: [turn] });
    expect(await succeed('GET', '/v1/chats/trip')).toMatch(/Where is Oslo.*And Bergen/s);
    await succeed('POST', `/v1/evaluations/${model}`, {});
    const { key: userKey } = findAnswer(/^\/v1\/user\/info$/);
    await succeed('POST', '/v1/chat/completions', { ...question, model: 'demo' }, userKey);
    // Before the deletion, because Parley warns if a document of an application is missing.
    expect(node.output.stdout).not.toMatch(/"level":"(warn|error|fatal)"/);
    expect(node.output.stderr).toBe('');
    for (const path of fixture.answers.map(({ path }) => path).filter((path) => path.startsWith('/v1/files/')))
      await succeed('DELETE', path);
  });
});
