import { findUnexpected, getChatPath, toMessages } from './calls.ts';
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
const toKeyHeader = (index: number): Record<string, string> => ({ 'api-key': toKey(index % projects) });
const pick = (list: readonly number[], index: number): number => list[index % list.length] ?? 0;

/** Creates a call that expects this status. */
function createRun(status: number, toRequest: (index: number) => RequestOptions): Kind['run'] {
  return async (client, index) => findUnexpected([status], (await client.send(toRequest(index))).status);
}

async function putAndGet(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = toKeyHeader(index);
  const { bucket } = (await client.send({ path: '/v1/bucket', headers })).json() as { bucket: string };
  const path = `/v1/files/${bucket}/folder/${Math.floor(index / projects) % filesOfAProject}.txt`;
  const body = `File ${index}. `.padEnd(pick(fileKilobytes, index) * kilobyte, 'words ');
  const put = await client.send({ method: 'PUT', path, headers: { ...headers, 'content-type': 'text/plain' }, body });
  const got = await client.send({ path, headers });
  return [...findUnexpected([200], put.status), ...findUnexpected([200, 404], got.status)];
}

async function giveConsent(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = toKeyHeader(index);
  const path = '/v1/consent/assistant';
  const form = (await client.send({ path, headers })).json() as { accepted: boolean };
  const posted = form.accepted ? [] : [(await client.send({ method: 'POST', path, headers, body: form })).status];
  if (index % 2 === 0) await client.send({ method: 'DELETE', path, headers });
  return findUnexpected([200], ...posted);
}

async function callWithLimits(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = { 'api-key': limitedKey };
  const { status } = await client.send({ path: getChatPath('gpt'), headers, body: toMessages(index) });
  const limitsAnswer = await client.send({ path: '/v1/deployments/gpt/limits', headers });
  return [...findUnexpected([200, 429], status), ...findUnexpected([200], limitsAnswer.status)];
}

async function callAsUser(client: NodeClient, index: number): Promise<readonly number[]> {
  const headers = { authorization: `Bearer ${await client.token(`user-${index % users}`)}` };
  return findUnexpected([200], (await client.send({ path: getChatPath('gpt'), headers, body: toMessages(index) })).status);
}

const listings = [
  '/v1/models',
  '/openai/models',
  '/openai/deployments',
  '/v1/user/info',
  '/openapi.json',
  '/v1/metadata/files/public/',
];
const rejectedRequests: readonly (readonly [status: number, toAsking: (index: number) => RequestOptions])[] = [
  [401, (index) => ({ path: getChatPath('gpt'), headers: { 'api-key': `wrong-${index}` }, body: toMessages(index) })],
  [404, (index) => ({ path: getChatPath(`absent-${index}`), headers: toKeyHeader(index), body: toMessages(index) })],
  [
    400,
    (index) => ({
      path: getChatPath('gpt'),
      headers: toKeyHeader(index),
      body: { messages: [{ role: 'nobody', content: index }] },
    }),
  ],
  [400, (index) => ({ path: getChatPath('gpt'), headers: toKeyHeader(index), body: `{"messages": [${index}` })],
  [404, (index) => ({ path: `/nowhere/${index}`, headers: toKeyHeader(index) })],
];

async function sendRejected(client: NodeClient, index: number): Promise<readonly number[]> {
  const [status, toRequest] = rejectedRequests[index % rejectedRequests.length] ?? [0, () => ({ path: '/' })];
  return findUnexpected([status], (await client.send(toRequest(index))).status);
}

/** The mixed load. Weights are percentages. */
export const mix: readonly Kind[] = [
  {
    name: 'chat',
    weight: 20,
    run: createRun(200, (index) => ({ path: getChatPath('gpt'), headers: toKeyHeader(index), body: toMessages(index) })),
  },
  {
    name: 'streamed chat',
    weight: 14,
    run: createRun(200, (index) => ({
      path: getChatPath('gpt'),
      headers: toKeyHeader(index),
      body: { ...toMessages(index), stream: true },
    })),
  },
  {
    name: 'chat of 20 kB to 1 MB',
    weight: 8,
    run: createRun(200, (index) => ({
      path: getChatPath('gpt'),
      headers: toKeyHeader(index),
      body: toMessages(index, pick(bodyKilobytes, index) * kilobyte),
    })),
  },
  {
    name: 'stream that is canceled',
    weight: 5,
    run: async (client, index) =>
      findUnexpected(
        [200],
        await client.sendAndDisconnect({
          path: getChatPath('gpt'),
          headers: toKeyHeader(index),
          body: { ...toMessages(index), stream: true },
        }),
      ),
  },
  {
    name: 'messages to a chat model',
    weight: 4,
    run: createRun(200, (index) => ({
      path: '/msgapi/v1/messages',
      headers: toKeyHeader(index),
      body: { model: 'gpt', max_tokens: 100, ...toMessages(index), stream: index % 2 === 0 },
    })),
  },
  {
    name: 'messages',
    weight: 4,
    run: createRun(200, (index) => ({
      path: '/msgapi/v1/messages',
      headers: toKeyHeader(index),
      body: { model: 'claude', max_tokens: 100, ...toMessages(index), stream: index % 2 === 0 },
    })),
  },
  { name: 'chat of users with tokens', weight: 8, run: callAsUser },
  {
    name: 'embeddings',
    weight: 8,
    run: createRun(200, (index) => ({
      path: '/v1/embeddings',
      headers: toKeyHeader(index),
      body: { model: 'vectors', input: [`text ${index}`, 'another', 'third'] },
    })),
  },
  {
    name: 'listings',
    weight: 6,
    run: createRun(200, (index) => ({ path: listings[index % listings.length] ?? '/', headers: toKeyHeader(index) })),
  },
  { name: 'files', weight: 5, run: putAndGet },
  {
    name: 'quick app with a tool',
    weight: 7,
    run: createRun(200, (index) => ({
      path: getChatPath('app'),
      headers: toKeyHeader(index),
      body: { ...toMessages(index), stream: index % 2 === 0 },
    })),
  },
  { name: 'consent', weight: 2, run: giveConsent },
  { name: 'limits', weight: 3, run: callWithLimits },
  { name: 'rejected', weight: 5, run: sendRejected },
  { name: 'health and metrics', weight: 1, run: createRun(200, (index) => ({ path: index % 2 === 0 ? '/health' : '/metrics' })) },
];
