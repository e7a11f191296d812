import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { text } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { countSlowly } from '../responses/count-slowly.ts';
import { cancelRun, deleteRun, expectComplete, followRun, getText, readEvents, startRun } from './support.ts';

vi.setConfig({ testTimeout: 30_000 });

const numbers = (count: number): string => Array.from({ length: count }, (_, nth) => `${nth + 1} `).join('');

describe.each(['SQLite', 'PostgreSQL'] as const)('chat run on %s', (engine) => {
  let stored: ResponseDatabase;
  let upstream: ScriptedUpstream;
  let busy: ScriptedUpstream;
  /** Sends one word and stays open. */
  let quiet: ScriptedUpstream;
  let nodes: readonly TestService[];
  const toRun = (node = 0, id: string = randomUUID(), key = callerKey) => ({ url: (nodes[node] as TestService).url, id, key });
  const findRequest = (words: string) =>
    vi.waitFor(() => {
      const found = upstream.requests.find((each) => each.text.includes(words));
      if (found === undefined) throw new Error('the model was not called yet');
      return found;
    }, 10_000);

  beforeAll(async () => {
    stored = await openResponses(engine);
    upstream = await startScriptedUpstream(countSlowly);
    busy = await startScriptedUpstream(jsonReply({ error: { message: 'Slow down.' } }, 429, { 'retry-after': '7' }));
    quiet = await startScriptedUpstream(async (exchange) => {
      exchange.head();
      await exchange.events(text('One'));
    });
    const toModel = (endpoint: string) => ({ upstreams: [{ endpoint, key: 'k', model: 'm' }], maxRetryAttempts: 1 });
    const configuration = {
      models: {
        slow: toModel(upstream.endpoint),
        bounded: toModel(upstream.endpoint),
        busy: toModel(busy.endpoint),
        quiet: toModel(quiet.endpoint),
        staff: { ...toModel(upstream.endpoint), userRoles: ['staff'] },
      },
      roles: { default: { limits: { bounded: { requestDay: 1 } } } },
      keys: {
        [callerKey]: { project: 'clients' },
        'other-key': { project: 'others' },
        'bound-key': { project: 'clients', deployments: ['slow'] },
      },
    };
    const start = () => startService(configuration, { responses: { ...stored.stores(), isShared: true } });
    nodes = [await start(), await start()];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await upstream.close();
    await busy.close();
    await quiet.close();
    await stored[Symbol.asyncDispose]();
  });

  it('streams the chunks of a direct call, and stores them with their numbers', async () => {
    const run = toRun();
    const live = await readEvents(await startRun(run, 'count to 5'));
    expectComplete(live, 'completed');
    expect(getText(live)).toBe(numbers(5));
    expect(live.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
    expect(await readEvents(await followRun({ ...run, url: toRun(1).url }))).toEqual(live);
    const direct = await fetch(`${run.url}/openai/deployments/slow/chat/completions`, {
      method: 'POST',
      headers: { 'api-key': callerKey, 'content-type': 'application/json' },
      body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'count to 5' }] }),
    });
    const withoutNumbers = live.slice(0, -1).map(({ sequence_number: _, ...chunk }) => chunk);
    expect(withoutNumbers).toEqual(await readEvents(direct));
  });

  it('returns the run instead of its events without stream', async () => {
    const run = toRun();
    const response = await startRun(run, 'count to 2', { stream: false });
    expect(await response.json()).toMatchObject({ id: run.id, object: 'chat.run', status: 'in_progress', model: 'slow' });
    const events = await readEvents(await followRun(run));
    expect(getText(events)).toBe(numbers(2));
    expect(events.at(-1)).toMatchObject({ status: 'completed', duration_ms: expect.any(Number) });
  });

  it('continues when its client disconnects, and resumes in the middle for several readers on every node', async () => {
    const run = toRun();
    const leaving = new AbortController();
    const start = await startRun(run, 'count to 40', {}, leaving.signal);
    const live = await readEvents(start, ({ choices }) => choices?.[0]?.delta.content === '3 ');
    leaving.abort();
    const after = live.at(-1)?.sequence_number ?? 0;
    const readers = [0, 1, 0].map(async (node) => readEvents(await followRun({ ...run, url: toRun(node).url }, after)));
    for (const rest of await Promise.all(readers)) {
      expectComplete(rest, 'completed', after + 1);
      expect(getText([...live, ...rest])).toBe(numbers(40));
    }
    expect(await readEvents(await followRun(run, 1_000))).toMatchObject([{ object: 'chat.run', status: 'completed' }]);
  });

  it.each([0, 1])('is canceled from node %i with its upstream call', async (node) => {
    const run = toRun();
    const words = `count to ${10_000 + node}`;
    const leaving = new AbortController();
    await readEvents(await startRun(run, words, {}, leaving.signal), ({ choices }) => choices?.[0]?.delta.content === '2 ');
    leaving.abort();
    const { closed } = await findRequest(words);
    const following = followRun({ ...run, url: toRun(1 - node).url }).then((response) => readEvents(response));
    const cancelled = await cancelRun({ ...run, url: toRun(node).url });
    expect(cancelled).toMatchObject({ status: 200, body: { id: run.id, status: 'cancelled' } });
    expect(await closed).toMatchObject({ early: true });
    const events = await following;
    expectComplete(events, 'cancelled');
    expect(getText(events)).toMatch(/^1 2 /);
    expect(await cancelRun(run)).toMatchObject({ body: { status: 'cancelled' } });
  });

  it.each([0, 1])('is deleted from node %i with its upstream call', async (node) => {
    const run = toRun();
    const words = `count to ${20_000 + node}`;
    const started = await startRun(run, words);
    const reading = readEvents(started);
    const { closed } = await findRequest(words);
    expect(await deleteRun({ ...run, url: toRun(node).url })).toBe(204);
    expect(await closed).toMatchObject({ early: true });
    expect((await reading).filter(({ status }) => status !== undefined)).toEqual([]);
    for (const each of [0, 1]) expect((await followRun({ ...run, url: toRun(each).url })).status).toBe(404);
  });

  it('belongs to the user who started it, and to the bound key that started it', async () => {
    const run = toRun();
    await readEvents(await startRun(run, 'count to 1'));
    for (const key of ['other-key', 'bound-key']) {
      expect((await followRun({ ...run, key })).status).toBe(404);
      expect((await cancelRun({ ...run, key })).status).toBe(404);
      expect(await deleteRun({ ...run, key })).toBe(404);
      expectComplete(await readEvents(await startRun({ ...run, key }, 'count to 2')), 'completed');
      expect(getText(await readEvents(await followRun({ ...run, key })))).toBe(numbers(2));
    }
    expect(getText(await readEvents(await followRun(run)))).toBe(numbers(1));
    expect((await startRun({ ...run, id: randomUUID(), key: 'bound-key' }, 'x', { model: 'bounded' })).status).toBe(403);
  });

  it('is not a stored response, and expires after a day', async () => {
    const run = toRun();
    await readEvents(await startRun(run, 'count to 1'));
    const { database } = stored;
    const rows = await database.run((kysely) =>
      kysely.selectFrom('responses').selectAll().where('is_background', '=', 2).execute(),
    );
    for (const { created_at_ms, expires_at_ms } of rows) expect(expires_at_ms - created_at_ms).toBe(86_400_000);
    expect(rows.length).toBeGreaterThan(0);
    for (const { id } of rows)
      expect((await fetch(`${run.url}/v1/responses/${id}`, { headers: { 'api-key': callerKey } })).status).toBe(404);
    const list = await fetch(`${run.url}/v1/user/responses`, { headers: { 'api-key': callerKey } });
    expect(await list.json()).toMatchObject({ data: [] });
  });

  it('is rejected with the status of a direct call, and leaves no run', async () => {
    const run = toRun();
    const reject = async (fields: object, content = 'count to 1') => {
      const response = await startRun(run, content, fields);
      const { error } = (await response.json()) as { error: { code: string } };
      return [response.status, error.code];
    };
    expect(await reject({ model: 'staff' })).toEqual([403, 'access_denied']);
    expect(await reject({ model: 'none' })).toEqual([404, 'model_not_found']);
    expect(await reject({ messages: [] })).toEqual([400, 'invalid_request']);
    expect(await reject({ store: false })).toEqual([400, 'invalid_request']);
    // The first call uses up the limit.
    await startRun(toRun(), 'count to 1', { model: 'bounded' }).then(readEvents);
    expect(await reject({ model: 'bounded' })).toEqual([429, 'request_limit_exceeded']);
    const limited = await startRun(run, 'x', { model: 'busy' });
    expect(limited.status).toBe(429);
    // The rest of the 7 seconds that the upstream asked for.
    expect(limited.headers.get('retry-after')).toMatch(/^[1-7]$/);
    expect((await followRun(run)).status).toBe(404);
    expectComplete(await readEvents(await startRun(run, 'count to 1')), 'completed');
    expect(await reject({})).toEqual([412, 'precondition_failed']);
    expect((await followRun({ ...run, id: 'not.valid' })).status).toBe(404);
  });

  it('ends with the error of its upstream after the earlier output', async () => {
    const run = toRun();
    const live = await readEvents(await startRun(run, 'count to 3, break off'));
    expectComplete(live, 'failed');
    expect(getText(live)).toBe(numbers(3));
    expect(live.at(-2)).toMatchObject({ error: { code: 'upstream_failed' } });
    expect(await readEvents(await followRun(run))).toEqual(live);
  });

  it('is rejected if its user has 32 runs in progress on any node', async () => {
    const runs = Array.from({ length: 32 }, (_, nth) => toRun(nth % 2, undefined, 'other-key'));
    const started = await Promise.all(runs.map((run) => startRun(run, 'Hello', { model: 'quiet' })));
    expect(started.map(({ status }) => status)).toEqual(runs.map(() => 200));
    const rejected = await startRun(toRun(0, undefined, 'other-key'), 'count to 1');
    expect(rejected.status).toBe(429);
    expect(await rejected.json()).toMatchObject({ error: { code: 'too_many_chat_runs' } });
    expectComplete(await readEvents(await startRun(toRun(0), 'count to 1')), 'completed');
    for (const run of runs) expect((await cancelRun(run)).status).toBe(200);
    await Promise.all(started.map((response) => readEvents(response)));
    expectComplete(await readEvents(await startRun(toRun(0, undefined, 'other-key'), 'count to 1')), 'completed');
  });
});
