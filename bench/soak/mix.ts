import { chat, toMessages, unlike } from './calls.ts';
import { keyOf, limitedKey, projects } from './configuration.ts';
import type { Asking, NodeClient } from './node-client.ts';

/** One kind of what callers do. */
export interface Kind {
  readonly name: string;
  /** How often among all kinds. */
  readonly weight: number;
  /** Resolves with the statuses it was answered with that it should not have been. */
  readonly run: (client: NodeClient, nth: number) => Promise<readonly number[]>;
}

const users = 2_000;
const filesOfAProject = 5;
const kilobyte = 1024;
const bodyKilobytes = [20, 20, 20, 50, 50, 200, 200, 1000];
const fileKilobytes = [1, 20, 100, 500];
const asKey = (nth: number): Record<string, string> => ({ 'api-key': keyOf(nth % projects) });
const pick = (list: readonly number[], nth: number): number => list[nth % list.length] ?? 0;

/** A call that is answered with this status. */
function asks(status: number, toAsking: (nth: number) => Asking): Kind['run'] {
  return async (client, nth) => unlike([status], (await client.ask(toAsking(nth))).status);
}

async function putAndGet(client: NodeClient, nth: number): Promise<readonly number[]> {
  const headers = asKey(nth);
  const { bucket } = (await client.ask({ path: '/v1/bucket', headers })).json() as { bucket: string };
  const path = `/v1/files/${bucket}/folder/${Math.floor(nth / projects) % filesOfAProject}.txt`;
  const body = `File ${nth}. `.padEnd(pick(fileKilobytes, nth) * kilobyte, 'words ');
  const put = await client.ask({ method: 'PUT', path, headers: { ...headers, 'content-type': 'text/plain' }, body });
  const got = await client.ask({ path, headers });
  return [...unlike([200], put.status), ...unlike([200, 404], got.status)];
}

async function consent(client: NodeClient, nth: number): Promise<readonly number[]> {
  const headers = asKey(nth);
  const path = '/v1/consent/assistant';
  const form = (await client.ask({ path, headers })).json() as { accepted: boolean };
  const posted = form.accepted ? [] : [(await client.ask({ method: 'POST', path, headers, body: form })).status];
  if (nth % 2 === 0) await client.ask({ method: 'DELETE', path, headers });
  return unlike([200], ...posted);
}

async function limits(client: NodeClient, nth: number): Promise<readonly number[]> {
  const headers = { 'api-key': limitedKey };
  const { status } = await client.ask({ path: chat('gpt'), headers, body: toMessages(nth) });
  const told = await client.ask({ path: '/v1/deployments/gpt/limits', headers });
  return [...unlike([200, 429], status), ...unlike([200], told.status)];
}

async function asUser(client: NodeClient, nth: number): Promise<readonly number[]> {
  const headers = { authorization: `Bearer ${await client.token(`user-${nth % users}`)}` };
  return unlike([200], (await client.ask({ path: chat('gpt'), headers, body: toMessages(nth) })).status);
}

const listings = [
  '/v1/models',
  '/openai/models',
  '/openai/deployments',
  '/v1/user/info',
  '/openapi.json',
  '/v1/metadata/files/public/',
];
const refusals: readonly (readonly [status: number, toAsking: (nth: number) => Asking])[] = [
  [401, (nth) => ({ path: chat('gpt'), headers: { 'api-key': `wrong-${nth}` }, body: toMessages(nth) })],
  [404, (nth) => ({ path: chat(`absent-${nth}`), headers: asKey(nth), body: toMessages(nth) })],
  [400, (nth) => ({ path: chat('gpt'), headers: asKey(nth), body: { messages: [{ role: 'nobody', content: nth }] } })],
  [400, (nth) => ({ path: chat('gpt'), headers: asKey(nth), body: `{"messages": [${nth}` })],
  [404, (nth) => ({ path: `/nowhere/${nth}`, headers: asKey(nth) })],
];

async function refused(client: NodeClient, nth: number): Promise<readonly number[]> {
  const [status, toAsking] = refusals[nth % refusals.length] ?? [0, () => ({ path: '/' })];
  return unlike([status], (await client.ask(toAsking(nth))).status);
}

/** The mixed load; weights are percent. */
export const mix: readonly Kind[] = [
  { name: 'chat', weight: 20, run: asks(200, (nth) => ({ path: chat('gpt'), headers: asKey(nth), body: toMessages(nth) })) },
  {
    name: 'streamed chat',
    weight: 14,
    run: asks(200, (nth) => ({ path: chat('gpt'), headers: asKey(nth), body: { ...toMessages(nth), stream: true } })),
  },
  {
    name: 'chat of 20 kB to 1 MB',
    weight: 8,
    run: asks(200, (nth) => ({
      path: chat('gpt'),
      headers: asKey(nth),
      body: toMessages(nth, pick(bodyKilobytes, nth) * kilobyte),
    })),
  },
  {
    name: 'stream that is left',
    weight: 5,
    run: async (client, nth) =>
      unlike([200], await client.leave({ path: chat('gpt'), headers: asKey(nth), body: { ...toMessages(nth), stream: true } })),
  },
  {
    name: 'messages to a chat model',
    weight: 4,
    run: asks(200, (nth) => ({
      path: '/msgapi/v1/messages',
      headers: asKey(nth),
      body: { model: 'gpt', max_tokens: 100, ...toMessages(nth), stream: nth % 2 === 0 },
    })),
  },
  {
    name: 'messages',
    weight: 4,
    run: asks(200, (nth) => ({
      path: '/msgapi/v1/messages',
      headers: asKey(nth),
      body: { model: 'claude', max_tokens: 100, ...toMessages(nth), stream: nth % 2 === 0 },
    })),
  },
  { name: 'chat of users with tokens', weight: 8, run: asUser },
  {
    name: 'embeddings',
    weight: 8,
    run: asks(200, (nth) => ({
      path: '/v1/embeddings',
      headers: asKey(nth),
      body: { model: 'vectors', input: [`text ${nth}`, 'another', 'third'] },
    })),
  },
  {
    name: 'listings',
    weight: 6,
    run: asks(200, (nth) => ({ path: listings[nth % listings.length] ?? '/', headers: asKey(nth) })),
  },
  { name: 'files', weight: 5, run: putAndGet },
  {
    name: 'quick app with a tool',
    weight: 7,
    run: asks(200, (nth) => ({ path: chat('app'), headers: asKey(nth), body: { ...toMessages(nth), stream: nth % 2 === 0 } })),
  },
  { name: 'consent', weight: 2, run: consent },
  { name: 'limits', weight: 3, run: limits },
  { name: 'refused', weight: 5, run: refused },
  { name: 'health and metrics', weight: 1, run: asks(200, (nth) => ({ path: nth % 2 === 0 ? '/health' : '/metrics' })) },
];
