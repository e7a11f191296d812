import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { post } from './support.ts';

const mebibyte = 1024 ** 2;
const large = 'x'.repeat(3 * mebibyte);

let stored: ResponseDatabase;
let upstream: ScriptedUpstream;
let service: TestService;
/** The upstream answers when it is resolved. */
let gate: PromiseWithResolvers<void>;

async function start(maxUserInputBytes: number): Promise<void> {
  gate = Promise.withResolvers();
  gate.resolve();
  stored = await openResponses('SQLite');
  upstream = await startScriptedUpstream(async (exchange) => {
    await gate.promise;
    await jsonReply(plainCompletion('Hi'))(exchange);
  });
  const configuration = {
    models: { m: { upstreams: [{ endpoint: upstream.endpoint, model: 'up' }] } },
    keys: { [callerKey]: { project: 'clients' } },
    security: { maxBodyBytes: 7 * mebibyte },
  };
  service = await startService(configuration, { responses: stored.stores(), maxUserInputBytes });
}

afterEach(async () => {
  gate.resolve();
  await service[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await stored[Symbol.asyncDispose]();
});

const create = (fields: object, path?: string) => post(service, { model: 'm', input: 'Hi', ...fields }, path);
const createChain = async (...inputs: string[]): Promise<string | undefined> => {
  let last: string | undefined;
  for (const input of inputs) {
    const { status, json } = await create({ input, previous_response_id: last });
    expect(status).toBe(200);
    last = (json as { id: string }).id;
  }
  return last;
};
const createConversation = async (...contents: string[]): Promise<{ id: string; itemIds: string[] }> => {
  const { id } = (await post(service, {}, '/v1/conversations')).json as { id: string };
  const itemIds: string[] = [];
  for (const content of contents) {
    const items = [{ type: 'message', role: 'user', content }];
    const { json } = await post(service, { items }, `/v1/conversations/${id}/items`);
    itemIds.push(...(json as { data: { id: string }[] }).data.map((item) => item.id));
  }
  return { id, itemIds };
};
const toReference = (id: string) => ({ type: 'item_reference', id });
/** Starts a request that the upstream answers when the gate opens. Resolves when the upstream has received it. */
const startWaiting = async (fields: object) => {
  gate = Promise.withResolvers();
  const received = upstream.request(upstream.requests.length);
  const answer = create(fields);
  await received;
  return { answer };
};

describe('stored items that a call continues', () => {
  beforeEach(() => start(6 * mebibyte));

  const overloaded = { status: 503, json: { error: { code: 'overloaded', message: expect.stringContaining('large inputs') } } };

  it.each([
    ['a chain', async () => ({ previous_response_id: await createChain(large) })],
    ['references', async () => ({ input: (await createConversation(large)).itemIds.map(toReference) })],
  ])('count in the memory of the user until the response ends: %s', async (_name, store) => {
    const fields = await store();
    const { answer } = await startWaiting(fields);
    expect(await create(fields)).toMatchObject(overloaded);
    expect(await create(fields, '/v1/responses/input_tokens')).toMatchObject(overloaded);
    gate.resolve();
    expect((await answer).status).toBe(200);
    expect((await create(fields, '/v1/responses/input_tokens')).status).toBe(200);
    expect((await create(fields)).status).toBe(200);
  });

  it('count in the memory of the user until the response ends: a conversation', async () => {
    const { id: conversation } = await createConversation(large);
    const { answer } = await startWaiting({ conversation });
    expect(await create({ conversation }, '/v1/responses/input_tokens')).toMatchObject(overloaded);
    gate.resolve();
    expect((await answer).status).toBe(200);
    expect((await create({ conversation })).status).toBe(200);
  });
});

describe('stored items of one response', () => {
  beforeEach(() => start(1024 * mebibyte));

  it.each([
    ['a chain', async () => ({ previous_response_id: await createChain(large, large) })],
    ['a conversation', async () => ({ conversation: (await createConversation(large, large, large)).id })],
    ['references', async () => ({ input: (await createConversation(large, large, large)).itemIds.map(toReference) })],
  ])('may have as many bytes as a body: %s', async (name, store) => {
    const fields = await store();
    const field = Object.keys(fields)[0] as string;
    const { status, json } = await create(fields);
    expect([name, status]).toEqual([name, 400]);
    expect(json).toMatchObject({ error: { code: 'context_length_exceeded', param: field } });
  });
});

describe('large body', () => {
  beforeEach(() => start(6 * mebibyte));

  const isAccepted = async (): Promise<boolean> => (await create({ input: `${large}${large}` })).status === 200;

  it('counts until its background run ends', async () => {
    const { answer } = await startWaiting({ input: large, background: true });
    expect((await answer).json).toMatchObject({ status: 'queued' });
    expect(await isAccepted()).toBe(false);
    gate.resolve();
    await expect.poll(isAccepted).toBe(true);
  });

  it('of a chat run counts until the run ends', async () => {
    gate = Promise.withResolvers();
    const messages = [{ role: 'user', content: large }];
    const { status } = await post(service, { model: 'm', messages }, '/v1/chat-runs/run-1');
    expect(status).toBe(200);
    expect(await isAccepted()).toBe(false);
    gate.resolve();
    await expect.poll(isAccepted).toBe(true);
  });

  it('of new items of a conversation counts until the response ends', async () => {
    const { id: conversation } = await createConversation();
    const body = JSON.stringify({ items: [{ type: 'message', role: 'user', content: large }] });
    const connected = once(service.app.server, 'connection');
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    await connected;
    socket.write(`POST /v1/conversations/${conversation}/items HTTP/1.1\r\nhost: x\r\napi-key: ${callerKey}\r\n`);
    socket.write(`content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`);
    await expect.poll(isAccepted).toBe(false);
    socket.destroy();
    await expect.poll(isAccepted).toBe(true);
  });
});
