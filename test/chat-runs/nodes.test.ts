import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFreshDatabase, type TestDatabase } from '#test/fresh-database.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { countSlowly } from '../responses/count-slowly.ts';
import { expectComplete, followRun, getText, type RunEvent, readEvents, startRun } from './support.ts';

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

/** Starts a run, and disconnects after its third word. Returns its ID and the events that arrived. */
async function begin({ url }: TestProcess, words: string): Promise<{ id: string; live: readonly RunEvent[] }> {
  const id = randomUUID();
  const leaving = new AbortController();
  const started = await startRun({ url, id }, words, {}, leaving.signal);
  const live = await readEvents(started, ({ choices }) => choices?.[0]?.delta.content === '3 ');
  leaving.abort();
  return { id, live };
}

const nodeLost = { error: { type: 'server_error', code: 'node_lost', message: expect.stringContaining('stopped') } };

// Concurrent, because the tests wait for the lease of a stopped node to expire.
describe.concurrent('chat runs of nodes', () => {
  let database: TestDatabase;
  const environment = () => ({ PARLEY_DATABASE_URL: database.url, PARLEY_SECRET: 'a secret that is long enough for a test' });

  beforeAll(async () => {
    database = await createFreshDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it('end with an error after the earlier output if their node is killed, for readers on another node', async () => {
    await using victim = await start(environment());
    await using other = await start(environment());
    const { id, live } = await begin(victim, forever);
    const run = { url: other.url, id };
    const following = followRun(run, live.at(-1)?.sequence_number).then((response) => readEvents(response));
    await begin(other, 'count to 4');
    victim.kill('SIGKILL');
    await victim.ended;
    const rest = await following;
    expectComplete(rest, 'failed', live.length);
    expect(rest.at(-2)).toMatchObject(nodeLost);
    const events = await readEvents(await followRun(run));
    expect(events).toEqual([...live, ...rest]);
    expect(getText(events)).toMatch(/^1 2 3 /);
  });

  it('finish during a shutdown, or end with an error after the drain time', async () => {
    await using other = await start(environment());
    for (const [drainMs, words, status] of [
      ['20000', 'count to 60', 'completed'],
      ['300', forever, 'failed'],
    ] as const) {
      await using stopping = await start({ ...environment(), PARLEY_DRAIN_MS: drainMs });
      const { id } = await begin(stopping, words);
      stopping.kill('SIGTERM');
      await stopping.ended;
      const events = await readEvents(await followRun({ url: other.url, id }));
      expectComplete(events, status);
      if (status === 'failed') expect(events.at(-2)).toMatchObject({ error: { code: 'shutting_down' } });
    }
  });

  it('end with an error after a single node with SQLite restarts', async () => {
    await using folder = await openFolder();
    const flags = ['--data', `${folder.path}/data`];
    const crashed = await start({}, flags);
    const { id, live } = await begin(crashed, forever);
    crashed.kill('SIGKILL');
    await crashed.ended;
    await using restarted = await start({}, flags);
    const events = await readEvents(await followRun({ url: restarted.url, id }));
    expectComplete(events, 'failed');
    expect(events.slice(0, live.length)).toEqual(live);
    expect(events.at(-2)).toMatchObject(nodeLost);
    await crashed[Symbol.asyncDispose]();
  });
});
