import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey, withKey } from '#test/start-service.ts';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';
import { countSlowly } from './count-slowly.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const forever = 'count to 100000';
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startScriptedUpstream(countSlowly);
});
afterAll(() => upstream.close());

function start(environment: Readonly<Record<string, string>>, flags: readonly string[] = []): Promise<TestProcess> {
  const slow = { upstreams: [{ endpoint: upstream.endpoint, key: 'k', model: 'm' }], maxRetryAttempts: 1 };
  return startProcess({ configuration: { models: { slow } }, environment, flags });
}

const post = (node: TestProcess, body: object, path = '/v1/responses'): Promise<TestResponse> =>
  node.sendRequest({ path, headers: withKey(), body });
const read = (node: TestProcess, id: string): Promise<TestResponse> =>
  sendRequest(node.url, { method: 'GET', path: `/v1/responses/${id}`, headers: { 'api-key': callerKey } });

async function begin(node: TestProcess, fields: object = {}): Promise<string> {
  const { status, json, text } = await post(node, { model: 'slow', input: forever, background: true, ...fields });
  expect(status, text).toBe(200);
  return (json as { id: string }).id;
}

async function getStatus(node: TestProcess, id: string): Promise<unknown> {
  const { status, error } = (await read(node, id)).json as { status: string; error: { code: string } | null };
  return [status, error?.code];
}

const failed = ['failed', 'server_error'];

// Concurrent, because the tests wait for the lease of a stopped node to expire.
describe.concurrent('nodes that share a PostgreSQL', () => {
  let database: TestDatabase;
  const environment = () => ({ PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: 'a secret that is long enough for a test' });

  beforeAll(async () => {
    database = await createFreshDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it('mark all responses of a killed node as failed', async () => {
    await using victim = await start(environment());
    await using other = await start(environment());
    const { id: conversation } = (await post(victim, {}, '/v1/conversations')).json as { id: string };
    const ids = [await begin(victim, { conversation })];
    for (let count = 0; count < 200; count += 20)
      ids.push(...(await Promise.all(Array.from({ length: 20 }, () => begin(victim)))));
    const otherRun = await begin(other);
    await vi.waitFor(async () => expect(await getStatus(other, ids[0] ?? '')).toEqual(['in_progress', undefined]));
    expect((await post(other, { model: 'slow', input: 'count to 1', conversation })).status).toBe(409);
    victim.kill('SIGKILL');
    await victim.ended;
    await vi.waitFor(
      async () => {
        for (const id of ids) expect(await getStatus(other, id)).toEqual(failed);
      },
      { timeout: 45_000, interval: 500 },
    );
    expect(await getStatus(other, otherRun)).toEqual(['in_progress', undefined]);
    const events = await sendRequest(other.url, {
      ...{ method: 'GET', path: `/v1/responses/${ids[0]}?stream=true`, headers: { 'api-key': callerKey } },
    });
    expect(events.text).toMatch(/event: response.failed\n.*\n\ndata: \[DONE\]\n\n$/);
    expect((await post(other, { model: 'slow', input: 'count to 1', conversation })).status).toBe(200);
  });

  it('let a run finish on shutdown, or mark it as failed after the drain time', async () => {
    await using other = await start(environment());
    for (const [drainMs, input, outcome] of [
      ['20000', 'count to 60', ['completed', undefined]],
      ['300', forever, failed],
    ] as const) {
      await using stopping = await start({ ...environment(), PARLEY_DRAIN_MS: drainMs });
      const id = await begin(stopping, { input });
      stopping.kill('SIGTERM');
      await stopping.ended;
      expect(await getStatus(other, id)).toEqual(outcome);
    }
  });

  it('delete a response permanently even if another node streams it', async () => {
    await using streaming = await start(environment());
    await using other = await start(environment());
    const response = await fetch(`${streaming.url}/v1/responses`, {
      method: 'POST',
      headers: withKey(),
      body: JSON.stringify({ model: 'slow', input: 'count to 60', stream: true }),
    });
    let text = '';
    for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(piece).toString();
      const id = /"id":"(resp_\w+)"/.exec(text)?.[1];
      if (id === undefined || text.includes('gone')) continue;
      text += 'gone';
      await vi.waitFor(async () => {
        const path = `/v1/responses/${id}`;
        expect((await other.sendRequest({ method: 'DELETE', path, headers: { 'api-key': callerKey } })).status).toBe(200);
      });
    }
    const last = /event: response.completed\ndata: (.*)\n/.exec(text)?.[1] ?? '{}';
    const { response: lastResponse } = JSON.parse(last) as { response: { id: string; store: boolean } };
    expect(lastResponse.store).toBe(false);
    expect((await read(other, lastResponse.id)).status).toBe(404);
    expect((await read(streaming, lastResponse.id)).status).toBe(404);
  });
});

describe.concurrent('single node', () => {
  let folder: TemporaryFolder;

  beforeAll(async () => {
    folder = await openFolder();
  });
  afterAll(() => folder[Symbol.asyncDispose]());

  it('marks responses in progress as failed after a crash', async () => {
    const flags = ['--data', `${folder.path}/data`];
    const crashed = await start({}, flags);
    const ids = await Promise.all(Array.from({ length: 20 }, () => begin(crashed)));
    const done = await begin(crashed, { input: 'count to 1' });
    await vi.waitFor(async () => expect(await getStatus(crashed, done)).toEqual(['completed', undefined]), { timeout: 10_000 });
    crashed.kill('SIGKILL');
    await crashed.ended;
    await using restarted = await start({}, flags);
    await vi.waitFor(
      async () => {
        for (const id of ids) expect(await getStatus(restarted, id)).toEqual(failed);
      },
      { timeout: 30_000, interval: 200 },
    );
    expect(await getStatus(restarted, done)).toEqual(['completed', undefined]);
    await crashed[Symbol.asyncDispose]();
  });
});
