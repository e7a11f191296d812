import { chat, toMessages, unlike } from './calls.ts';
import { limitedKey, projects, toKey } from './configuration.ts';
import type { NodeClient, RequestOptions } from './node-client.ts';

/** One kind of request. */
export interface Kind {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  /** Resolves with the unexpected statuses. */
  readonly run: (client: NodeClient, index: number) => Promise<readonly number[]>;
}

const users = 2_000;
const filesOfAProject = 5;
const kilobyte = 1024;
const bodyKilobytes = [20, 20, 20, 50, 50, 200, 200, 1000];
const fileKilobytes = [1, 20, 100, 500];
const asKey = (index: number): Record<string, string> => ({ 'api-key': toKey(index % projects) });
const pick = (list: readonly number[], index: number): number => list[index % list.length] ?? 0;

/** Creates a call that expects this status. */
function createRun(status: number, toAsking: (index: number) => RequestOptions): Kind['run'] {
  return async (client, index) => unlike([status], (await client.send(toAsking(index))).status);
}

async function putAndGet(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = asKey(index);
  const { bucket } = (await client.send({ path: '/v1/bucket', headers })).json() as { bucket: string };
  const path = `/v1/files/${bucket}/folder/${Math.floor(index / projects) % filesOfAProject}.txt`;
  const body = `File ${index}. `.padEnd(pick(fileKilobytes, index) * kilobyte, 'words ');
  const put = await client.send({ method: 'PUT', path, headers: { ...headers, 'content-type': 'text/plain' }, body });
  const got = await client.send({ path, headers });
  return [...unlike([200], put.status), ...unlike([200, 404], got.status)];
}

async function consent(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = asKey(index);
  const path = '/v1/consent/assistant';
  const form = (await client.send({ path, headers })).json() as { accepted: boolean };
  const posted = form.accepted ? [] : [(await client.send({ method: 'POST', path, headers, body: form })).status];
  if (index % 2 === 0) await client.send({ method: 'DELETE', path, headers });
  return unlike([200], ...posted);
}

async function limits(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = { 'api-key': limitedKey };
  const { status } = await client.send({ path: chat('gpt'), headers, body: toMessages(index) });
  const limitsAnswer = await client.send({ path: '/v1/deployments/gpt/limits', headers });
  return [...unlike([200, 429], status), ...unlike([200], limitsAnswer.status)];
}

async function asUser(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = { authorization: `Bearer ${await client.token(`user-${index % users}`)}` };
  return unlike([200], (await client.send({ path: chat('gpt'), headers, body: toMessages(index) })).status);
}

const listings = [
  '/v1/models',
  '/openai/models',
  '/openai/deployments',
  '/v1/user/info',
  '/openapi.json',
  '/v1/metadata/files/public/',
];
const refusals: readonly (readonly [status: number, toAsking: (index: number) => RequestOptions])[] = [
  [401, (index) => ({ path: chat('gpt'), headers: { 'api-key': `wrong-${index}` }, body: toMessages(index) })],
  [404, (index) => ({ path: chat(`absent-${index}`), headers: asKey(index), body: toMessages(index) })],
  [400, (index) => ({ path: chat('gpt'), headers: asKey(index), body: { messages: [{ role: 'nobody', content: index }] } })],
  [400, (index) => ({ path: chat('gpt'), headers: asKey(index), body: `{"messages": [${index}` })],
  [404, (index) => ({ path: `/nowhere/${index}`, headers: asKey(index) })],
];

async function refused(client: NodeClient, index: number): Promise<readonly number[]> {
  const [status, toAsking] = refusals[index % refusals.length] ?? [0, () => ({ path: '/' })];
  return unlike([status], (await client.send(toAsking(index))).status);
}

/** The mixed load. Weights are percentages. */
export const mix: readonly Kind[] = [
  {
    name: 'chat',
    weight: 20,
    run: createRun(200, (index) => ({ path: chat('gpt'), headers: asKey(index), body: toMessages(index) })),
  },
  {
    name: 'streamed chat',
    weight: 14,
    run: createRun(200, (index) => ({ path: chat('gpt'), headers: asKey(index), body: { ...toMessages(index), stream: true } })),
  },
  {
    name: 'chat of 20 kB to 1 MB',
    weight: 8,
    run: createRun(200, (index) => ({
      path: chat('gpt'),
      headers: asKey(index),
      body: toMessages(index, pick(bodyKilobytes, index) * kilobyte),
    })),
  },
  {
    name: 'stream that is left',
    weight: 5,
    run: async (client, index) =>
      unlike(
        [200],
        await client.sendAndDisconnect({
          path: chat('gpt'),
          headers: asKey(index),
          body: { ...toMessages(index), stream: true },
        }),
      ),
  },
  {
    name: 'messages to a chat model',
    weight: 4,
    run: createRun(200, (index) => ({
      path: '/msgapi/v1/messages',
      headers: asKey(index),
      body: { model: 'gpt', max_tokens: 100, ...toMessages(index), stream: index % 2 === 0 },
    })),
  },
  {
    name: 'messages',
    weight: 4,
    run: createRun(200, (index) => ({
      path: '/msgapi/v1/messages',
      headers: asKey(index),
      body: { model: 'claude', max_tokens: 100, ...toMessages(index), stream: index % 2 === 0 },
    })),
  },
  { name: 'chat of users with tokens', weight: 8, run: asUser },
  {
    name: 'embeddings',
    weight: 8,
    run: createRun(200, (index) => ({
      path: '/v1/embeddings',
      headers: asKey(index),
      body: { model: 'vectors', input: [`text ${index}`, 'another', 'third'] },
    })),
  },
  {
    name: 'listings',
    weight: 6,
    run: createRun(200, (index) => ({ path: listings[index % listings.length] ?? '/', headers: asKey(index) })),
  },
  { name: 'files', weight: 5, run: putAndGet },
  {
    name: 'quick app with a tool',
    weight: 7,
    run: createRun(200, (index) => ({
      path: chat('app'),
      headers: asKey(index),
      body: { ...toMessages(index), stream: index % 2 === 0 },
    })),
  },
  { name: 'consent', weight: 2, run: consent },
  { name: 'limits', weight: 3, run: limits },
  { name: 'refused', weight: 5, run: refused },
  { name: 'health and metrics', weight: 1, run: createRun(200, (index) => ({ path: index % 2 === 0 ? '/health' : '/metrics' })) },
];
