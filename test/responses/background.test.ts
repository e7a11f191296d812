import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { countSlowly } from './count-slowly.ts';
import { createClient, post } from './support.ts';

vi.setConfig({ testTimeout: 30_000 });

describe.each(['SQLite', 'PostgreSQL'] as const)('background response on %s', (engine) => {
  let database: ResponseDatabase;
  let upstream: ScriptedUpstream;
  let nodes: readonly TestService[];
  const client = (node = 0) => createClient(nodes[node] as TestService);
  const create = (input: string, fields: object = {}) =>
    client().responses.create({ model: 'slow', input, background: true, ...fields, stream: false });
  const waitForEnd = (id: string, node = 0) =>
    vi.waitFor(async () => {
      const response = await client(node).responses.retrieve(id);
      expect(['queued', 'in_progress']).not.toContain(response.status);
      return response;
    }, 10_000);
  const findRequest = (prompt: string) =>
    vi.waitFor(() => {
      const found = upstream.requests.find(({ text }) => text.includes(prompt));
      if (found === undefined) throw new Error('the upstream has not received the request yet');
      return found;
    }, 10_000);
  const follow = async (id: string, { node = 0, after = undefined as number | undefined } = {}) => {
    const events: ResponseStreamEvent[] = [];
    const query = { stream: true as const, ...(after !== undefined && { starting_after: after }) };
    for await (const event of await client(node).responses.retrieve(id, query)) events.push(event);
    return events;
  };

  beforeAll(async () => {
    database = await openResponses(engine);
    upstream = await startScriptedUpstream(countSlowly);
    const upstreams = [{ endpoint: upstream.endpoint, key: 'k', model: 'm' }];
    const model = { upstreams, maxRetryAttempts: 1 };
    const configuration = {
      models: { slow: model, bounded: model },
      roles: { default: { limits: { bounded: { requestDay: 1 } } } },
      keys: { [callerKey]: { project: 'clients' }, 'other-key': { project: 'others' } },
    };
    const start = () => startService(configuration, { responses: { ...database.stores(), isShared: true } });
    nodes = [await start(), await start()];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await upstream.close();
    await database[Symbol.asyncDispose]();
  });

  it('is listed for its user on every node, in pages', async () => {
    const ids: string[] = [];
    for (const prompt of ['count to 2, first', 'count to 2, then', 'count to 2, last']) ids.push((await create(prompt)).id);
    for (const id of ids) await waitForEnd(id);
    await client().responses.create({ model: 'slow', input: 'count to 1, in the foreground' });
    const list = async (query: string, key = callerKey) => {
      const listRequest = { method: 'GET', path: `/v1/user/responses${query}`, headers: { 'api-key': key } };
      const { status, json } = await (nodes[1] as TestService).sendRequest(listRequest);
      return { status, ...(json as { data: Record<string, unknown>[]; has_more: boolean; last_id: string; error: object }) };
    };
    const first = await list('?limit=2');
    const rest = await list(`?limit=2&after=${first.last_id}`);
    const listed = [...first.data, ...rest.data];
    expect([first.has_more, rest.has_more]).toEqual([true, false]);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
    const expected = { object: 'response', status: 'completed', model: 'slow', background: true, error: null };
    expect(listed).toEqual(
      expect.arrayContaining([expect.objectContaining({ ...expected, id: ids[2], asked: 'count to 2, last' })]),
    );
    expect((await list('', 'other-key')).data).toEqual([]);
    for (const query of [`?after=${'x'.repeat(2000)}`, '?after=resp_none', '?limit=0', '?limit=x'])
      expect(await list(query)).toMatchObject({ status: 400, error: { code: 'invalid_request' } });
  });

  it('is queued, completed, and readable on every node', async () => {
    const queued = await create('count to 5');
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [] });
    const response = await waitForEnd(queued.id, 1);
    expect(response).toMatchObject({ status: 'completed', usage: { output_tokens: 5 } });
    expect(response.output_text).toBe('1 2 3 4 5 ');
    const next = await create('count to 2', { previous_response_id: queued.id });
    expect((await waitForEnd(next.id)).output_text).toBe('1 2 ');
  });

  it('cannot be deleted or ended by another user', async () => {
    const { id } = await create('count to 10');
    const removal = { method: 'DELETE', path: `/v1/responses/${id}`, headers: { 'api-key': 'other-key' } };
    for (const node of nodes) expect((await node.sendRequest(removal)).status).toBe(404);
    expect(await waitForEnd(id)).toMatchObject({ status: 'completed', output_text: '1 2 3 4 5 6 7 8 9 10 ' });
  });

  it('continues when its client disconnects, and streams from any event on every node', async () => {
    const live: ResponseStreamEvent[] = [];
    const body = { model: 'slow', input: 'count to 40', background: true, stream: true as const };
    for await (const event of await client().responses.create(body)) {
      live.push(event);
      if (event.type === 'response.output_text.delta') break;
    }
    const id = live[0]?.type === 'response.created' ? live[0].response.id : '';
    const after = live.at(-1)?.sequence_number ?? 0;
    const [here, there] = await Promise.all([follow(id, { after }), follow(id, { node: 1, after })]);
    const allEvents = await follow(id, { node: 1 });
    expect(allEvents.map(({ sequence_number }) => sequence_number)).toEqual(allEvents.map((_event, nth) => nth));
    expect(allEvents.slice(0, 3).map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ]);
    expect(allEvents.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    expect(allEvents.slice(0, after + 1)).toEqual(live);
    expect(here).toEqual(allEvents.slice(after + 1));
    expect(there).toEqual(here);
  });

  it('streams without a gap after a short outage of the store', async () => {
    const queued = await create('count to 20');
    const stores = database.stores();
    const { runs } = stores.responses;
    const isInProgress = vi.spyOn(runs, 'isInProgress').mockRejectedValueOnce(createStoreError('unavailable'));
    const readEventsAfter = vi.spyOn(runs, 'readEventsAfter').mockRejectedValueOnce(createStoreError('unavailable'));
    const configuration = { models: {}, keys: { [callerKey]: { project: 'clients' } } };
    await using reader = await startService(configuration, { responses: { ...stores, isShared: true } });
    const events: ResponseStreamEvent[] = [];
    for await (const event of await createClient(reader).responses.retrieve(queued.id, { stream: true })) events.push(event);
    for (const spy of [isInProgress, readEventsAfter]) expect(spy.mock.settledResults[0]?.type).toBe('rejected');
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, nth) => nth));
    expect(events.at(-1)?.type).toBe('response.completed');
  });

  it.each([0, 1])('is canceled from node %i with its upstream call, and stays canceled', async (node) => {
    const prompt = `count to ${10_000 + node}`;
    const queued = await create(prompt);
    const { closed } = await findRequest(prompt);
    const following = follow(queued.id, { node: 1 - node });
    expect((await client(node).responses.cancel(queued.id)).status).toBe('cancelled');
    expect(await closed).toMatchObject({ early: true });
    expect(await client(1 - node).responses.cancel(queued.id)).toMatchObject({ id: queued.id, status: 'cancelled' });
    const types = (await following).map(({ type }) => type);
    expect(types[0]).toBe('response.created');
    expect(types.filter((type) => /completed|failed|incomplete/.test(type))).toEqual([]);
  });

  it.each([0, 1])('is deleted from node %i while it is in progress, which ends its upstream call', async (node) => {
    const prompt = `count to ${20_000 + node}`;
    const queued = await create(prompt);
    const { closed } = await findRequest(prompt);
    await client(node).responses.delete(queued.id);
    expect(await closed).toMatchObject({ early: true });
    for (const each of [0, 1]) await expect(client(each).responses.retrieve(queued.id)).rejects.toMatchObject({ status: 404 });
  });

  it('is rejected beyond the limits of its caller, and fails if its upstream fails', async () => {
    expect((await create('count to 1', { model: 'bounded' })).status).toBe('queued');
    await expect(create('count to 1', { model: 'bounded' })).rejects.toMatchObject({ status: 429 });
    const queued = await create('break off');
    const failed = await waitForEnd(queued.id);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    await expect(follow(queued.id)).rejects.toThrow('The upstream ended its response early.');
  });

  it.each([false, true])('returns Parley-Ignored with the fields that its deployment ignores (stream: %s)', async (stream) => {
    const tools = [{ type: 'web_search' }];
    const body = { model: 'slow', input: 'count to 1', background: true, tools, stream };
    const { status, headers } = await post(nodes[0] as TestService, body);
    expect([status, headers['parley-ignored']]).toEqual([200, 'tools.web_search']);
  });

  it('is rejected if responses are not stored', async () => {
    await expect(create('x', { store: false })).rejects.toMatchObject({ status: 400, param: 'background' });
  });
});
