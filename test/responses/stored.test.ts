import type { Response } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { MockedService } from '#test/mocked-service.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { createAlternatingClients, createClient, startResponsesService } from './support.ts';

describe.each(['SQLite', 'PostgreSQL'] as const)('stored response on two nodes with %s', (engine) => {
  let stored: ResponseDatabase;
  let mocked: MockedService;
  let client: ReturnType<typeof createAlternatingClients>;
  const readSentMessages = async (): Promise<readonly unknown[]> => {
    const body = mocked.mock.getRequests().at(-1)?.body as { messages: unknown[] } | undefined;
    return body?.messages ?? [];
  };

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

  it('can be read unchanged as soon as it ends', async () => {
    const created = await client().responses.create({ model: 'gpt', input: 'hello', metadata: { a: 'b' } });
    expect(created).toMatchObject({ store: true });
    expect(await client('/openai/v1').responses.retrieve(created.id)).toEqual(created);
  });

  it('equals the result of its stream as soon as that ends', async () => {
    const stream = client().responses.stream({ model: 'claude', input: 'please think' });
    let streamedResponse: Response | undefined;
    for await (const event of stream) if (event.type === 'response.completed') streamedResponse = event.response;
    const read = await client().responses.retrieve(streamedResponse?.id ?? '');
    expect(read).toMatchObject({ id: streamedResponse?.id, status: 'completed', output: streamedResponse?.output });
  });

  it('has encrypted reasoning only if the client requests it, and accepts it back', async () => {
    const input = 'please think';
    const created = await client().responses.create({ model: 'claude', input });
    expect(JSON.stringify(created)).not.toContain('encrypted_content');
    expect(await client().responses.retrieve(created.id)).toEqual(created);
    const { output } = await client().responses.retrieve(created.id, { include: ['reasoning.encrypted_content'] });
    expect(output).toMatchObject([{ type: 'reasoning', encrypted_content: expect.stringMatching(/^s1\./) }, { type: 'message' }]);
    const again = [{ role: 'user', content: input }, ...output, { role: 'user', content: 'and then?' }];
    const returnItems = (model: string) => client().responses.create({ model, input: again as never, store: false });
    expect((await returnItems('claude')).status).toBe('completed');
    expect((await returnItems('gemini')).status).toBe('completed');
  });

  it('can be continued with its input and output', async () => {
    const first = await client().responses.create({ model: 'gpt', input: 'the first question' });
    const second = await client().responses.create({ model: 'gpt', input: 'the second', previous_response_id: first.id });
    const third = await client().responses.create({ model: 'gpt', input: 'the third', previous_response_id: second.id });
    expect(third.previous_response_id).toBe(second.id);
    expect(await readSentMessages()).toMatchObject([
      { role: 'user', content: 'the first question' },
      { role: 'assistant', content: first.output_text },
      { role: 'user', content: 'the second' },
      { role: 'assistant', content: second.output_text },
      { role: 'user', content: 'the third' },
    ]);
    const items = await client().responses.inputItems.list(third.id, { order: 'asc', limit: 2 });
    const all: string[] = [];
    for await (const item of items) all.push(`${item.type} ${item.id}`);
    expect(all).toHaveLength(5);
    expect(new Set(all).size).toBe(5);
    await client().responses.delete(first.id);
    await expect(client().responses.create({ model: 'gpt', input: 'x', previous_response_id: third.id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    });
  });

  it('leaves no data if it is not stored', async () => {
    const count = () =>
      stored.database.run(async (kysely) => (await kysely.selectFrom('responses').select('id').execute()).length);
    const before = await count();
    const created = await client().responses.create({ model: 'gpt', input: 'hello', store: false });
    expect(created).toMatchObject({ store: false });
    await expect(client().responses.retrieve(created.id)).rejects.toMatchObject({ status: 404, code: 'response_not_found' });
    expect(await count()).toBe(before);
  });

  it('has items that other requests can reference', async () => {
    const created = await client().responses.create({ model: 'gpt', input: 'hello' });
    const id = created.output[0]?.id ?? '';
    const input = [
      { type: 'item_reference' as const, id },
      { role: 'user' as const, content: 'and then?' },
    ];
    await client().responses.create({ model: 'gpt', input });
    const [firstMessage, next] = await readSentMessages();
    expect([firstMessage, next]).toMatchObject([{ role: 'assistant', content: created.output_text }, { content: 'and then?' }]);
    await client().responses.create({ model: 'gpt', previous_response_id: created.id, input });
    expect(await readSentMessages()).toHaveLength(3);
    const unknown = [{ type: 'item_reference' as const, id: 'msg_none' }];
    await expect(client().responses.create({ model: 'gpt', input: unknown })).rejects.toMatchObject({
      ...{ status: 400, param: 'input[0].id' },
    });
  });

  it('can be deleted once, even while its stream continues', async () => {
    const stream = await client().responses.create({ model: 'demo', input: 'Count to 1000', stream: true });
    let id = '';
    let end: unknown;
    for await (const event of stream) {
      if (event.type === 'response.created') {
        id = event.response.id;
        await vi.waitFor(() => client().responses.delete(id));
      }
      if (event.type === 'response.completed') end = event.response;
    }
    expect(end).toMatchObject({ id, store: false });
    await expect(client().responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(client().responses.delete(id)).rejects.toMatchObject({ status: 404 });
  });

  it('keeps the state of an application for the next turn without exposing it', async () => {
    const first = await client().responses.create({ model: 'quick', input: 'hello' });
    const second = await client().responses.create({ model: 'quick', input: 'and now?', previous_response_id: first.id });
    expect(second.status).toBe('completed');
    expect(JSON.stringify(await client().responses.inputItems.list(second.id))).not.toContain('parley:state');
  });

  it('lists its input items with all required fields', async () => {
    const picture = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' };
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'Look.' }, picture] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'I see.' }] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [picture] },
    ];
    const { id } = await client().responses.create({ model: 'gpt', input: input as never });
    const conversation = await client().conversations.create({ items: input as never });
    const pages = [
      await client().responses.inputItems.list(id, { order: 'asc' }),
      await client().conversations.items.list(conversation.id, { order: 'asc' }),
    ];
    const expectedImage = { ...picture, detail: 'auto' };
    for (const { data } of pages) {
      expect(data).toMatchObject([
        { content: [{ type: 'input_text' }, expectedImage], status: 'completed' },
        { content: [{ type: 'output_text', text: 'I see.', annotations: [] }], status: 'completed' },
        { type: 'function_call', status: 'completed' },
        { type: 'function_call_output', output: [expectedImage], status: 'completed' },
      ]);
    }
  });

  it('lists the input items of a chain in pages of at most 2 MiB, in both directions', async () => {
    const input = 'x'.repeat(1.5e6);
    const first = await client().responses.create({ model: 'demo', input });
    const second = await client().responses.create({ model: 'demo', input, previous_response_id: first.id });
    const list = (query: object) => client().responses.inputItems.list(second.id, { limit: 100, ...query } as never);
    const page = await list({});
    const next = await page.getNextPage();
    expect([page.data.length, page.has_more, next.data.length, next.has_more]).toEqual([2, true, 1, false]);
    const [latest, answer] = page.data;
    const backward = await list({ order: 'asc', before: latest?.id });
    expect([backward.data.map(({ id }) => id), backward.has_more]).toEqual([[next.data[0]?.id, answer?.id], false]);
    const last = await list({ order: 'desc', before: next.data[0]?.id });
    expect([last.data.map(({ id }) => id), last.has_more]).toEqual([[latest?.id, answer?.id], false]);
  });

  it('rejects invalid page parameters', async () => {
    const created = await client().responses.create({ model: 'gpt', input: 'hello' });
    const list = (query: object) => client().responses.inputItems.list(created.id, query as never);
    const invalidParameters = { limit: [0, 101, 'many'], order: ['up'], after: ['msg_none'], before: ['msg_none'] };
    for (const [param, values] of Object.entries(invalidParameters))
      for (const value of values) await expect(list({ [param]: value })).rejects.toMatchObject({ status: 400, param });
    const read = (query: object) => client().responses.retrieve(created.id, query as never);
    await expect(read({ starting_after: 3 })).rejects.toMatchObject({ status: 400, param: 'starting_after' });
    await expect(read({ stream: true })).rejects.toMatchObject({ status: 400, param: 'stream' });
    await expect(client().responses.cancel(created.id)).rejects.toMatchObject({ status: 400 });
  });

  it('belongs to one user on every path', async () => {
    const other = client('/v1', 'other-key');
    const created = await client().responses.create({ model: 'gpt', input: 'hello' });
    const run = await client().responses.create({ model: 'gpt', input: 'hello', background: true });
    const { id: conversation_id } = await client().conversations.create({ items: [{ role: 'user', content: 'mine' }] });
    const items = await client().conversations.items.list(conversation_id);
    const item = items.data[0]?.id ?? '';
    const requests: readonly (() => Promise<unknown>)[] = [
      () => other.responses.retrieve(created.id),
      () => other.responses.retrieve(run.id, { stream: true }),
      () => other.responses.delete(created.id),
      () => other.responses.cancel(run.id),
      () => other.responses.inputItems.list(created.id),
      () => other.conversations.retrieve(conversation_id),
      () => other.conversations.update(conversation_id, { metadata: { a: 'b' } }),
      () => other.conversations.delete(conversation_id),
      () => other.conversations.items.list(conversation_id),
      () => other.conversations.items.create(conversation_id, { items: [{ role: 'user', content: 'x' }] }),
      () => other.conversations.items.retrieve(item, { conversation_id }),
      () => other.conversations.items.delete(item, { conversation_id }),
    ];
    for (const sendRequest of requests)
      await expect(sendRequest()).rejects.toMatchObject({ status: 404, code: 'response_not_found' });
    const create = (fields: object) => other.responses.create({ model: 'gpt', input: 'x', ...fields });
    const previous = create({ previous_response_id: created.id });
    await expect(previous).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' });
    const inConversation = create({ conversation: conversation_id });
    await expect(inConversation).rejects.toMatchObject({ status: 400, code: 'conversation_not_found' });
    const reference = create({ input: [{ type: 'item_reference', id: item }] });
    await expect(reference).rejects.toMatchObject({ status: 400, param: 'input[0].id' });
    expect(await client().responses.retrieve(created.id)).toEqual(created);
    expect((await client().conversations.items.list(conversation_id)).data).toEqual(items.data);
  });
});

it('a response that has just started is deleted permanently while its start is being stored', async () => {
  await using stored = await openResponses('SQLite');
  const stores = stored.stores();
  const begin = stores.responses.begin.bind(stores.responses);
  const gate = Promise.withResolvers<void>();
  stores.responses.begin = async (...response) => {
    await gate.promise;
    await begin(...response);
  };
  await using mocked = await startResponsesService({ responses: stores });
  const client = createClient(mocked.service);
  const stream = await client.responses.create({ model: 'demo', input: 'Count to 300', stream: true });
  let deleting: Promise<unknown> | undefined;
  let end: Response | undefined;
  for await (const event of stream) {
    if (event.type === 'response.created') {
      deleting = client.responses.delete(event.response.id);
      setTimeout(() => gate.resolve(), 50);
    }
    if (event.type === 'response.completed') end = event.response;
  }
  await deleting;
  expect(end).toMatchObject({ status: 'completed', store: false });
  await expect(client.responses.retrieve(end?.id ?? '')).rejects.toMatchObject({ status: 404 });
});
