import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import {
  jsonReply,
  type ReceivedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamExchange,
} from '#test/scripted-upstream.ts';
import type { TestRequest } from '#test/send-request.ts';
import { getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';
import { getConsent } from '../consent/support.ts';
import { getApplicationPath, getProjectBucket, quickApp, save } from './support.ts';

const canary = 'canary of the text from alice';
const aliceBucket = getProjectBucket('alice');
const bobBucket = getProjectBucket('bob');
const notes = `applications/${aliceBucket}/notes`;
const shared = `applications/${bobBucket}/shared`;
const anyApplication = { conditions: [{ condition_type: 'eq', property_name: 'application', const: true }] };

let host: ScriptedUpstream;
let service: TestService;
/** Action of the last application in a call chain with its per-request key. */
let withLastKey: (key: string) => Promise<unknown>;

beforeAll(async () => {
  host = await startScriptedUpstream();
  service = await startService({
    models: { demo: { upstreams: [{ endpoint: host.endpoint }] } },
    applications: {
      configured: { endpoint: `${host.url}/configured` },
      careful: { endpoint: `${host.url}/careful`, features: { consentRequired: true } },
    },
    keys: { alice: { project: 'alice' }, bob: { project: 'bob' } },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  });
  const openToAll = { userRoles: ['default'] };
  const applications: [name: string, owner: string, body: object][] = [
    ['notes', 'alice', quickApp({}, { description: canary })],
    ['own', 'alice', { endpoint: `${host.url}/own` }],
    ['published', 'alice', quickApp({}, openToAll)],
    ['shared', 'bob', { endpoint: `${host.url}/shared`, ...openToAll }],
    ['finder', 'bob', quickApp({ applications_as_tools: [anyApplication] }, { ...openToAll, dependencies: ['careful'] })],
  ];
  for (const [name, owner, body] of applications) {
    const { status, text } = await save(service, getApplicationPath(name, getProjectBucket(owner)), body, { 'api-key': owner });
    if (status !== 201) throw new Error(text);
  }
});

afterAll(async () => {
  await service.close();
  await host.close();
});

beforeEach(() => host.script(callNext));

/** Replies `done` as a model. An application calls the next deployment in the request, and the last one uses its key. */
async function callNext(exchange: UpstreamExchange): Promise<void> {
  if (!isModelRequest(exchange.received)) {
    const { headers, body } = exchange.received;
    const key = String(headers['api-key']);
    const [next, ...rest] = JSON.parse((body.messages as [{ content: string }])[0].content) as string[];
    if (next === undefined) await withLastKey(key);
    else await service.sendRequest({ path: getChatPath(next), headers: withKey(key), body: toBody(rest) });
  }
  await jsonReply(plainCompletion('done'))(exchange);
}

function isModelRequest({ path }: ReceivedRequest): boolean {
  return path.endsWith('/chat/completions');
}

function toBody(chain: readonly string[]): object {
  return { messages: [{ role: 'user', content: JSON.stringify(chain) }] };
}

/** Calls the chain as Alice, and returns the result of `use` with the key of the last application. */
async function callChain<Result>(
  [first = '', ...rest]: readonly string[],
  use: (key: string) => Promise<Result>,
): Promise<Result> {
  let result: Promise<Result> | undefined;
  withLastKey = async (key) => {
    result = use(key);
    await result.catch(() => undefined);
  };
  const { status, text } = await service.chat(first, toBody(rest), { 'api-key': 'alice' });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return result ?? expect.unreachable();
}

const uses: Readonly<Record<string, (id: string) => TestRequest>> = {
  chat: (id) => ({ path: getChatPath(id), body: { messages: hello } }),
  'chat on the alias': (id) => ({ path: '/v1/chat/completions', body: { model: id, messages: hello } }),
  messages: (id) => ({ path: '/msgapi/v1/messages', body: { model: id, max_tokens: 10, messages: hello } }),
  'counting of tokens': (id) => ({ path: '/msgapi/v1/messages/count_tokens', body: { model: id, messages: hello } }),
  MCP: (id) => ({ path: `/v1/deployments/${id}/mcp`, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
  embeddings: (id) => ({ path: `/openai/deployments/${id}/embeddings`, body: { input: 'x' } }),
  ...Object.fromEntries(
    ['/openai/deployments/', '/openai/applications/', '/v1/models/', '/anthropic/v1/models/'].map((base) => [
      `GET ${base}`,
      (id: string) => ({ method: 'GET', path: base + id }),
    ]),
  ),
  ...Object.fromEntries(
    ['documents', 'configuration', 'limits'].map((view) => [
      `GET ${view}`,
      (id: string) => ({ method: 'GET', path: `/v1/deployments/${id}/${view}` }),
    ]),
  ),
};

const listings = ['/openai/deployments', '/openai/applications', '/compat/deployments', '/v1/models', '/anthropic/v1/models'];

async function listIds(key: string): Promise<readonly string[][]> {
  const requests = listings.map((path) => service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } }));
  return (await Promise.all(requests)).map(({ json }) => (json as { data: { id: string }[] }).data.map(({ id }) => id));
}

/** Call chains with an application of another user, at the end or in between. */
const foreignChains: Readonly<Record<string, readonly string[]>> = {
  "another user's application": [shared],
  "a configured application that another user's application calls": [shared, 'configured'],
  "an own application that another user's application calls": [`applications/${aliceBucket}/own`, shared],
};

describe.each(Object.entries(foreignChains))('the per-request key of %s', (_, chain) => {
  it.each(Object.entries(uses))('grants no access to private applications of the user: %s', async (_use, createRequest) => {
    const { status, text } = await callChain(chain, (key) => {
      const request = createRequest(notes);
      return service.sendRequest({ ...request, headers: request.method === 'GET' ? { 'api-key': key } : withKey(key) });
    });
    expect(status).toBe(403);
    expect(text).toMatch(/access_denied|permission_error/);
    expect(text).not.toContain(canary);
  });

  it('does not list private applications, and lists deployments that roles allow', async () => {
    for (const ids of await callChain(chain, listIds)) {
      expect(ids).not.toContain(notes);
      expect(ids).not.toContain(`applications/${aliceBucket}/own`);
      expect(ids).toEqual(expect.arrayContaining([`applications/${aliceBucket}/published`, shared]));
    }
  });

  it('can call deployments that roles allow, including those of the user', async () => {
    const request = { path: getChatPath(`applications/${aliceBucket}/published`), body: { messages: hello } };
    expect((await callChain(chain, (key) => service.sendRequest({ ...request, headers: withKey(key) }))).status).toBe(200);
  });
});

describe.each([['configured'], [`applications/${aliceBucket}/own`]])('the per-request key of %s', (first) => {
  it('grants access to the private applications of the user and lists them', async () => {
    const request = { path: getChatPath(notes), body: { messages: hello } };
    const [answer, lists] = await callChain([first], async (key) => {
      return Promise.all([service.sendRequest({ ...request, headers: withKey(key) }), listIds(key)]);
    });
    expect(answer.status).toBe(200);
    for (const ids of lists) expect(ids).toContain(notes);
  });
});

describe('a quick app of another user', () => {
  const finder = `applications/${bobBucket}/finder`;

  it('does not offer private applications of its user as tools', async () => {
    expect((await service.chat(finder, { messages: hello }, { 'api-key': 'alice' })).status).toBe(200);
    const tools = JSON.stringify(host.requests.findLast(isModelRequest)?.body.tools);
    expect(tools).toContain('shared');
    expect(tools).not.toContain(canary);
  });

  it('has a consent form without private applications', async () => {
    const { consent } = (await getConsent(service, finder, 'alice')).json as { consent: object };
    expect(Object.keys(consent).sort()).toEqual(
      [finder, 'demo', 'careful', 'configured', shared, `applications/${aliceBucket}/published`].sort(),
    );
  });
});
