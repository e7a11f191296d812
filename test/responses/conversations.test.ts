import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { withKey } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { createAlternatingClients, post, startResponsesService } from './support.ts';

vi.setConfig({ testTimeout: 15_000 });

describe.each(['SQLite', 'PostgreSQL'] as const)('conversation on two nodes with %s', (engine) => {
  let stored: ResponseDatabase;
  let mocked: MockedService;
  let client: ReturnType<typeof createAlternatingClients>;

  beforeAll(async () => {
    stored = await openResponses(engine);
    const [one, other] = [0, 1].map(() => ({ responses: { ...stored.stores(), isShared: true } }));
    mocked = await startResponsesService(one, {}, other ?? {});
    client = createAlternatingClients(mocked);
  });
  afterAll(async () => {
    await mocked[Symbol.asyncDispose]();
    await stored[Symbol.asyncDispose]();
  });

  it('is created, read, updated, and deleted', async () => {
    const created = await client().conversations.create({
      metadata: { topic: 'one' },
      items: [{ role: 'user', content: 'Hello' }],
    });
    expect(created).toMatchObject({ object: 'conversation', metadata: { topic: 'one' } });
    expect(created.id).toMatch(/^conv_/);
    expect(await client('/openai/v1').conversations.retrieve(created.id)).toEqual(created);
    const changed = await client().conversations.update(created.id, { metadata: { topic: 'two' } });
    expect(changed).toEqual({ ...created, metadata: { topic: 'two' } });
    const { data } = await client().conversations.items.list(created.id);
    const content = [{ type: 'input_text', text: 'Hello' }];
    expect(data).toMatchObject([{ type: 'message', role: 'user', status: 'completed', content }]);
    expect(await client().conversations.delete(created.id)).toEqual({
      id: created.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    await expect(client().conversations.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });

  it('can be created without a body', async () => {
    const { status, json } = await mocked.service.sendRequest({ path: '/v1/conversations', headers: withKey() });
    expect([status, json]).toMatchObject([200, { object: 'conversation', metadata: {} }]);
  });

  it('has items that can be added, listed page by page, read, and deleted', async () => {
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
    const reference = { conversation_id: id };
    expect(await client().conversations.items.retrieve(first, reference)).toEqual(added.data[0]);
    expect(await client().conversations.items.delete(first, reference)).toMatchObject({ id });
    await expect(client().conversations.items.retrieve(first, reference)).rejects.toMatchObject({ status: 404 });
  });

  it('has pages of at most 2 MiB, but of at least one item', async () => {
    const { id } = await client().conversations.create();
    const content = 'x'.repeat(700_000);
    const items = Array.from({ length: 5 }, () => ({ type: 'message' as const, role: 'user' as const, content }));
    const { data } = await client().conversations.items.create(id, { items });
    await client().conversations.items.create(id, { items: [{ type: 'message', role: 'user', content: 'x'.repeat(3e6) }] });
    const lengths: number[] = [];
    const ids: (string | undefined)[] = [];
    const first = await client().conversations.items.list(id, { limit: 100 });
    for await (const page of first.iterPages()) {
      lengths.push(page.data.length);
      ids.push(...page.data.map((item) => item.id));
    }
    expect([lengths, ids.slice(1)]).toEqual([[1, 2, 2, 1], data.map((item) => item.id).toReversed()]);
  });

  it('continues with each type of response', async () => {
    const { id } = await client().conversations.create({ items: [{ role: 'user', content: 'My name is Ada.' }] });
    const first = await client().responses.create({ model: 'gpt', input: 'hello', conversation: id });
    expect(first.conversation).toEqual({ id });
    await client().responses.stream({ model: 'gpt', input: 'again', conversation: { id } }).finalResponse();
    const roles: unknown[] = [];
    for await (const item of client().conversations.items.list(id, { order: 'asc' })) roles.push('role' in item && item.role);
    expect(roles).toEqual(['user', 'user', 'assistant', 'user', 'assistant']);
    // The first two user messages reach the upstream as one.
    expect(mocked.mock.getRequests().at(-1)?.body).toMatchObject({ messages: { length: 3 } });
    const notStored = await client().responses.create({ model: 'gpt', input: 'forget it', conversation: id, store: false });
    expect(notStored.status).toBe('completed');
    expect((await client().conversations.items.list(id, { order: 'asc' })).data).toHaveLength(5);
  });

  it('is locked by one response at a time', async () => {
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
    ['an ID that is too long', { items: [{ role: 'user', content: 'a', id: 'x'.repeat(1_281) }] }, 'items[0].id'],
    ['an ID with a NUL', { items: [{ role: 'user', content: 'a', id: 'a\0b' }] }, 'items[0].id'],
    ['metadata', { metadata: { a: 1 } }, 'metadata.a'],
    ['long metadata', { metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
    ['a duplicate ID', { items: ['a', 'b'].map((content) => ({ id: 'msg_x', role: 'user', content })) }, 'items'],
  ])('is rejected for invalid input: %s', async (_what, body, param) => {
    const { status, error } = await post(mocked.service, body, '/v1/conversations');
    expect([status, error.param]).toEqual([400, param]);
  });

  it('is not found if it does not exist', async () => {
    const request = client().responses.create({ model: 'gpt', input: 'x', conversation: 'conv_none' });
    await expect(request).rejects.toMatchObject({ status: 400, code: 'conversation_not_found', param: 'conversation' });
    for (const path of ['/v1/conversations/conv_none', '/v1/conversations/nothing', '/v1/conversations/conv_none/items'])
      expect((await mocked.service.sendRequest({ method: 'GET', path, headers: { 'api-key': 'caller-key' } })).status).toBe(404);
  });
});

describe('conversation with a slow store', () => {
  let stored: ResponseDatabase;
  beforeAll(async () => {
    stored = await openResponses('SQLite');
  });
  afterAll(() => stored[Symbol.asyncDispose]());

  it.each([
    ['an invalid input', 400, { input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }],
    [
      'an invalid input in the background',
      400,
      { input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }], background: true },
    ],
    ['a failed response', 500, { input: 'broken' }],
    ['a failed stream', 500, { input: 'broken', stream: true }],
  ])('is unlocked before the error of %s is returned', async (_what, status, body) => {
    const responses = stored.stores();
    const slow = slowRelease(responses.conversations);
    await using mocked = await startResponsesService({ responses });
    const conversation = String(((await post(mocked.service, {}, '/v1/conversations')).json as { id: string }).id);
    const statuses: number[] = [];
    const request = post(mocked.service, { model: 'gpt', conversation, ...body }).then((answered) =>
      statuses.push(answered.status),
    );
    await slow.releasing.promise;
    // An error would have arrived by the end of these requests.
    for (let nth = 0; nth < 3; nth += 1) expect((await post(mocked.service, { model: 'gpt', input: 'hello' })).status).toBe(200);
    expect(statuses).toEqual([]);
    slow.gate.resolve();
    await request;
    expect(statuses).toEqual([status]);
    expect((await post(mocked.service, { model: 'gpt', input: 'hello', conversation })).status).toBe(200);
  });
});

/** Delays the release of a conversation until `gate` resolves. */
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

describe('store with a temporary failure', () => {
  let stored: ResponseDatabase;
  beforeAll(async () => {
    stored = await openResponses('SQLite');
  });
  afterAll(() => stored[Symbol.asyncDispose]());

  it.each([
    ['on release by a rejected call', 'conversations', 'release', { input: 'broken' }],
    ['while its size is counted', 'responses', 'deleteOldest', { input: 'hello' }],
    ['at the start of a stream', 'responses', 'begin', { input: 'hello', stream: true }],
    ['on release by a call that is not stored', 'conversations', 'release', { input: 'hello', store: false }],
  ] as const)('leaves no conversation locked if it fails %s', async (_when, store, step, body) => {
    const stores = stored.stores();
    const failed = failOnce<object>(stores[store], step as never);
    await using mocked = await startResponsesService({ responses: stores });
    const conversation = String(((await post(mocked.service, {}, '/v1/conversations')).json as { id: string }).id);
    failed.isArmed = true;
    await post(mocked.service, { model: 'gpt', conversation, ...body });
    expect(failed.isArmed).toBe(false);
    const next = async () =>
      expect((await post(mocked.service, { model: 'gpt', input: 'hello', conversation })).status).toBe(200);
    // Long before the lease of the node would expire and unlock the conversation.
    await vi.waitFor(next, 6_000);
  });

  it('leaves no queued run of a node that has stopped', async () => {
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
    // Uses a separate store, because the failure applies to the store of the node.
    const reading = () => stored.stores().responses.find({ id, subject }, Date.now());
    await vi.waitFor(async () => expect(await reading()).toMatchObject({ status: 'completed' }), 9_000);
    expect(mocked.mock.getRequests()).toHaveLength(1);
  });
});

/** Lets one method of a store fail once after it is armed. */
function failOnce<Store extends object>(store: Store, step: keyof Store): { isArmed: boolean } {
  const failure = { isArmed: false };
  const callOriginal = (store[step] as (...args: unknown[]) => unknown).bind(store);
  Object.defineProperty(store, step, {
    value: (...args: unknown[]) => {
      if (!failure.isArmed) return callOriginal(...args);
      failure.isArmed = false;
      return Promise.reject(createStoreError('the store failed for a moment'));
    },
  });
  return failure;
}
