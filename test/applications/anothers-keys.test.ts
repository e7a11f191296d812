import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import {
  type Answering,
  jsonReply,
  type Received,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '#test/scripted-upstream.ts';
import type { TestRequest } from '#test/send-request.ts';
import { chatPath, startService, type TestService, withKey } from '#test/start-service.ts';
import { getConsent } from '../consent/support.ts';
import { bucketOfProject, pathOf, quickApp, save } from './support.ts';

const canary = 'canary of what alice wrote';
const alice = bucketOfProject('alice');
const bob = bucketOfProject('bob');
const notes = `applications/${alice}/notes`;
const shared = `applications/${bob}/shared`;
const anyApplication = { conditions: [{ condition_type: 'eq', property_name: 'application', const: true }] };

let host: ScriptedUpstream;
let service: TestService;
/** What the last application on a way does with its key. */
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
  const open = { userRoles: ['default'] };
  const saved: [name: string, owner: string, body: object][] = [
    ['notes', 'alice', quickApp({}, { description: canary })],
    ['own', 'alice', { endpoint: `${host.url}/own` }],
    ['published', 'alice', quickApp({}, open)],
    ['shared', 'bob', { endpoint: `${host.url}/shared`, ...open }],
    ['finder', 'bob', quickApp({ applications_as_tools: [anyApplication] }, { ...open, dependencies: ['careful'] })],
  ];
  for (const [name, owner, body] of saved) {
    const { status, text } = await save(service, pathOf(name, bucketOfProject(owner)), body, { 'api-key': owner });
    if (status !== 201) throw new Error(text);
  }
});

afterAll(async () => {
  await service.close();
  await host.close();
});

beforeEach(() => host.script(goOn));

/** A model says `done`; an application calls the next deployment of those in the request, and the last uses its key. */
async function goOn(answering: Answering): Promise<void> {
  if (!isOfModel(answering.received)) {
    const { headers, body } = answering.received;
    const key = String(headers['api-key']);
    const [next, ...rest] = JSON.parse((body.messages as [{ content: string }])[0].content) as string[];
    if (next === undefined) await withLastKey(key);
    else await service.sendRequest({ path: chatPath(next), headers: withKey(key), body: toBody(rest) });
  }
  await jsonReply(plainCompletion('done'))(answering);
}

function isOfModel({ path }: Received): boolean {
  return path.endsWith('/chat/completions');
}

function toBody(way: readonly string[]): object {
  return { messages: [{ role: 'user', content: JSON.stringify(way) }] };
}

/** What comes of a use of the key that the last application on a way of Alice's holds. */
async function through<Done>([first = '', ...rest]: readonly string[], use: (key: string) => Promise<Done>): Promise<Done> {
  let used: Promise<Done> | undefined;
  withLastKey = async (key) => {
    used = use(key);
    await used.catch(() => undefined);
  };
  const { status, text } = await service.chat(first, toBody(rest), { 'api-key': 'alice' });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return used ?? expect.unreachable();
}

const uses: Readonly<Record<string, (id: string) => TestRequest>> = {
  chat: (id) => ({ path: chatPath(id), body: { messages: hello } }),
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

async function listed(key: string): Promise<readonly string[][]> {
  const asked = listings.map((path) => service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } }));
  return (await Promise.all(asked)).map(({ json }) => (json as { data: { id: string }[] }).data.map(({ id }) => id));
}

/** Ways on which an application of somebody else stands, last and in between. */
const anothers: Readonly<Record<string, readonly string[]>> = {
  "somebody else's application": [shared],
  "one of the configuration that somebody else's calls": [shared, 'configured'],
  "one's own that somebody else's is called by": [`applications/${alice}/own`, shared],
};

describe.each(Object.entries(anothers))('the key of %s', (_, way) => {
  it.each(Object.entries(uses))('opens no private application of the user: %s', async (_use, toAsking) => {
    const { status, text } = await through(way, (key) => {
      const asking = toAsking(notes);
      return service.sendRequest({ ...asking, headers: asking.method === 'GET' ? { 'api-key': key } : withKey(key) });
    });
    expect(status).toBe(403);
    expect(text).toMatch(/access_denied|permission_error/);
    expect(text).not.toContain(canary);
  });

  it('does not list private applications, but deployments that roles allow', async () => {
    for (const ids of await through(way, listed)) {
      expect(ids).not.toContain(notes);
      expect(ids).not.toContain(`applications/${alice}/own`);
      expect(ids).toEqual(expect.arrayContaining([`applications/${alice}/published`, shared]));
    }
  });

  it('calls deployments that roles allow, also those of the user', async () => {
    const asking = { path: chatPath(`applications/${alice}/published`), body: { messages: hello } };
    expect((await through(way, (key) => service.sendRequest({ ...asking, headers: withKey(key) }))).status).toBe(200);
  });
});

describe.each([['configured'], [`applications/${alice}/own`]])('the key of %s', (first) => {
  it('opens and lists the private applications of the user', async () => {
    const asking = { path: chatPath(notes), body: { messages: hello } };
    const [answer, lists] = await through([first], async (key) => {
      return Promise.all([service.sendRequest({ ...asking, headers: withKey(key) }), listed(key)]);
    });
    expect(answer.status).toBe(200);
    for (const ids of lists) expect(ids).toContain(notes);
  });
});

describe("another user's quick app", () => {
  const finder = `applications/${bob}/finder`;

  it('finds no private application of its user as a tool', async () => {
    expect((await service.chat(finder, { messages: hello }, { 'api-key': 'alice' })).status).toBe(200);
    const tools = JSON.stringify(host.requests.findLast(isOfModel)?.body.tools);
    expect(tools).toContain('shared');
    expect(tools).not.toContain(canary);
  });

  it('has a consent form that names none', async () => {
    const { consent } = (await getConsent(service, finder, 'alice')).json as { consent: object };
    expect(Object.keys(consent).sort()).toEqual(
      [finder, 'demo', 'careful', 'configured', shared, `applications/${alice}/published`].sort(),
    );
  });
});
