import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { withKey } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { clientsInTurn, post, startResponsesService } from './support.ts';

vi.setConfig({ testTimeout: 15_000 });

describe.each(['SQLite', 'PostgreSQL'] as const)('a conversation on two nodes of %s', (engine) => {
  let stored: ResponseDatabase;
  let mocked: MockedService;
  let client: ReturnType<typeof clientsInTurn>;

  beforeAll(async () => {
    stored = await openResponses(engine);
    const [one, other] = [0, 1].map(() => ({ responses: { ...stored.stores(), isShared: true } }));
    mocked = await startResponsesService(one, {}, other ?? {});
    client = clientsInTurn(mocked);
  });
  afterAll(async () => {
    await mocked[Symbol.asyncDispose]();
    await stored[Symbol.asyncDispose]();
  });

  it('is made, read, changed and deleted', async () => {
    const made = await client().conversations.create({ metadata: { topic: 'one' }, items: [{ role: 'user', content: 'Hello' }] });
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'one' } });
    expect(made.id).toMatch(/^conv_/);
    expect(await client('/openai/v1').conversations.retrieve(made.id)).toEqual(made);
    const changed = await client().conversations.update(made.id, { metadata: { topic: 'two' } });
    expect(changed).toEqual({ ...made, metadata: { topic: 'two' } });
    const { data } = await client().conversations.items.list(made.id);
    const content = [{ type: 'input_text', text: 'Hello' }];
    expect(data).toMatchObject([{ type: 'message', role: 'user', status: 'completed', content }]);
    expect(await client().conversations.delete(made.id)).toEqual({ id: made.id, object: 'conversation.deleted', deleted: true });
    await expect(client().conversations.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('is made without a body too', async () => {
    const { status, json } = await mocked.service.sendRequest({ path: '/v1/conversations', headers: withKey() });
    expect([status, json]).toMatchObject([200, { object: 'conversation', metadata: {} }]);
  });

  it('has items that are added, listed page by page, read and deleted', async () => {
    const { id } = await client().conversations.create();
    const added = await client().conversations.items.create(id, {
      items: ['a', 'b', 'c', 'd', 'e'].map((content) => ({ type: 'message' as const, role: 'user' as const, content })),
    });
    const ids = added.data.map((item) => item.id);
    const listed: unknown[] = [];
    for await (const item of client().conversations.items.list(id, { limit: 2, order: 'asc' })) listed.push(item.id);
    expect(listed).toEqual(ids);
    const page = await client().conversations.items.list(id, { limit: 2 });
    expect(page).toMatchObject({ has_more: true, last_id: ids[3] });
    const first = ids[0] ?? '';
    const place = { conversation_id: id };
    expect(await client().conversations.items.retrieve(first, place)).toEqual(added.data[0]);
    expect(await client().conversations.items.delete(first, place)).toMatchObject({ id });
    await expect(client().conversations.items.retrieve(first, place)).rejects.toMatchObject({ status: 404 });
  });

  it('continues with each response, for every kind of answer', async () => {
    const { id } = await client().conversations.create({ items: [{ role: 'user', content: 'My name is Ada.' }] });
    const first = await client().responses.create({ model: 'gpt', input: 'hello', conversation: id });
    expect(first.conversation).toEqual({ id });
    await client().responses.stream({ model: 'gpt', input: 'again', conversation: { id } }).finalResponse();
    const roles: unknown[] = [];
    for await (const item of client().conversations.items.list(id, { order: 'asc' })) roles.push('role' in item && item.role);
    expect(roles).toEqual(['user', 'user', 'assistant', 'user', 'assistant']);
    // The first two messages of the user reach the upstream as one.
    expect(mocked.mock.getRequests().at(-1)?.body).toMatchObject({ messages: { length: 3 } });
    const unkept = await client().responses.create({ model: 'gpt', input: 'forget it', conversation: id, store: false });
    expect(unkept.status).toBe('completed');
    expect((await client().conversations.items.list(id, { order: 'asc' })).data).toHaveLength(5);
  });

  it('is one response’s at a time', async () => {
    const { id: conversation } = await client().conversations.create();
    const create = (input: unknown) => client().responses.create({ model: 'gpt', input: input as string, conversation });
    const stream = await client().responses.create({ model: 'demo', input: 'Count to 1000', conversation, stream: true });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    await expect(create('hello')).rejects.toMatchObject({ status: 409, code: 'conversation_locked' });
    while (!(await events.next()).done);
    expect((await create('hello')).status).toBe('completed');
    await expect(create('broken')).rejects.toMatchObject({ status: 500 });
    const orphan = [{ type: 'function_call_output', call_id: 'x', output: 'y' }];
    await expect(create(orphan)).rejects.toMatchObject({ status: 400 });
    expect((await create('hello')).status).toBe('completed');
  });

  it.each([
    ['items', { items: 'x' }, 'items'],
    ['too many items', { items: Array.from({ length: 21 }, () => ({ role: 'user', content: 'x' })) }, 'items'],
    ['an unknown item', { items: [{ type: 'no_such_type' }] }, 'items[0].type'],
    ['a reference', { items: [{ type: 'item_reference', id: 'msg_1' }] }, 'items[0].type'],
    ['metadata', { metadata: { a: 1 } }, 'metadata.a'],
    ['long metadata', { metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
    ['twice the same id', { items: ['a', 'b'].map((content) => ({ id: 'msg_x', role: 'user', content })) }, 'items'],
  ])('is refused with %s that cannot be', async (_what, body, param) => {
    const { status, error } = await post(mocked.service, body, '/v1/conversations');
    expect([status, error.param]).toEqual([400, param]);
  });

  it('is not found where it was never made', async () => {
    const asked = client().responses.create({ model: 'gpt', input: 'x', conversation: 'conv_none' });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'conversation_not_found', param: 'conversation' });
    for (const path of ['/v1/conversations/conv_none', '/v1/conversations/nothing', '/v1/conversations/conv_none/items'])
      expect((await mocked.service.sendRequest({ method: 'GET', path, headers: { 'api-key': 'caller-key' } })).status).toBe(404);
  });
});

describe('a conversation whose store is slow', () => {
  let stored: ResponseDatabase;
  beforeAll(async () => {
    stored = await openResponses('SQLite');
  });
  afterAll(() => stored[Symbol.asyncDispose]());

  it.each([
    ['an invalid input', 400, { input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }],
    [
      'the same in the background',
      400,
      { input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }], background: true },
    ],
    ['what fails', 500, { input: 'broken' }],
    ['a stream that fails', 500, { input: 'broken', stream: true }],
  ])('is released before the error of %s is returned', async (_what, status, body) => {
    const responses = stored.stores();
    const slow = slowRelease(responses.conversations);
    await using mocked = await startResponsesService({ responses });
    const conversation = String(((await post(mocked.service, {}, '/v1/conversations')).json as { id: string }).id);
    const told: number[] = [];
    const asked = post(mocked.service, { model: 'gpt', conversation, ...body }).then((answered) => told.push(answered.status));
    await slow.releasing.promise;
    // Whoever was told would have been by the end of these.
    for (let nth = 0; nth < 3; nth += 1) expect((await post(mocked.service, { model: 'gpt', input: 'hello' })).status).toBe(200);
    expect(told).toEqual([]);
    slow.gate.resolve();
    await asked;
    expect(told).toEqual([status]);
    expect((await post(mocked.service, { model: 'gpt', input: 'hello', conversation })).status).toBe(200);
  });
});

/** Lets go of a conversation only after `gate`. */
function slowRelease(store: ReturnType<ResponseDatabase['stores']>['conversations']) {
  const releasing = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const release = store.release.bind(store);
  store.release = async (...target) => {
    releasing.resolve();
    await gate.promise;
    await release(...target);
  };
  return { releasing, gate };
}

describe('a store that fails for a moment', () => {
  let stored: ResponseDatabase;
  beforeAll(async () => {
    stored = await openResponses('SQLite');
  });
  afterAll(() => stored[Symbol.asyncDispose]());

  it.each([
    ['as a refused call lets go of it', 'conversations', 'release', { input: 'broken' }],
    ['while its size is counted', 'responses', 'deleteOldest', { input: 'hello' }],
    ['as a stream begins', 'responses', 'begin', { input: 'hello', stream: true }],
    ['as a call that is not kept lets go of it', 'conversations', 'release', { input: 'hello', store: false }],
  ] as const)('leaves no conversation taken, %s', async (_when, store, step, body) => {
    const stores = stored.stores();
    const failed = failOnce<object>(stores[store], step as never);
    await using mocked = await startResponsesService({ responses: stores });
    const conversation = String(((await post(mocked.service, {}, '/v1/conversations')).json as { id: string }).id);
    failed.isArmed = true;
    await post(mocked.service, { model: 'gpt', conversation, ...body });
    expect(failed.isArmed).toBe(false);
    const next = async () =>
      expect((await post(mocked.service, { model: 'gpt', input: 'hello', conversation })).status).toBe(200);
    // Long before anybody would find the node gone, and the conversation free for that.
    await vi.waitFor(next, 6_000);
  });

  it('leaves no waiting run of a node that is gone', async () => {
    const { id, subject } = { id: 'resp_waiting', subject: 'key:clients' };
    const times = { createdAtMs: Date.now(), expiresAtMs: Date.now() + 1e9 };
    const response = { id, object: 'response', status: 'queued', model: 'gpt', background: true, output: [] };
    const waiting = { id, subject, status: 'queued' as const, isBackground: true, previousId: undefined, ...times };
    const run = {
      value: { model: 'gpt', input: 'hello', background: true },
      caller: { subject, project: 'clients', roles: ['default'] },
      deployment: 'gpt',
    };
    await stored.stores().responses.begin({ ...waiting, response, input: [], node: 'gone' }, run);
    const stores = stored.stores();
    failOnce(stores.responses, 'find').isArmed = true;
    await using mocked = await startResponsesService({ responses: stores });
    // Asks a store of its own: what fails once fails for the node.
    const reading = () => stored.stores().responses.find({ id, subject }, Date.now());
    await vi.waitFor(async () => expect(await reading()).toMatchObject({ status: 'completed' }), 9_000);
    expect(mocked.mock.getRequests()).toHaveLength(1);
  });
});

/** Has one step of a store fail once, when it is armed. */
function failOnce<Store extends object>(store: Store, step: keyof Store): { isArmed: boolean } {
  const failing = { isArmed: false };
  const works = (store[step] as (...args: unknown[]) => unknown).bind(store);
  Object.defineProperty(store, step, {
    value: (...args: unknown[]) => {
      if (!failing.isArmed) return works(...args);
      failing.isArmed = false;
      return Promise.reject(createStoreError('the store failed for a moment'));
    },
  });
  return failing;
}
