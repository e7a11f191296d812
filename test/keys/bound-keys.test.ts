import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { report } from '../admin/support.ts';
import { quickApp } from '../applications/support.ts';
import { denied } from '../security/route-row.ts';
import { routeTable } from '../security/route-table.ts';
import { chat, createUserKey, type KeysCluster, sendWithCredentials, startKeysCluster } from './keys-cluster.ts';

const removePattern = (route: string): string => route.replace(/\([^)]*\)/g, '');
/** Routes that accept a key bound to deployments, or that need no key. */
const acceptingRoutes = new Set(
  routeTable.filter(({ outcomes }) => outcomes.bound !== denied).map(({ route }) => removePattern(route)),
);

let database: ResponseDatabase;
let cluster: KeysCluster;
let token: string;
let key: string;
const routes = new Set<string>();
const bucket = getBucket('ada');
const allowed = `applications/${bucket}/allowed`;
const otherApplication = `applications/${bucket}/other`;

beforeAll(async () => {
  database = await openResponses('SQLite');
  cluster = await startKeysCluster('SQLite', {
    chats: database.chats(),
    shares: database.shares(),
    admin: { journal: undefined as never, readNode: () => report },
    addHooks(app) {
      app.addHook('onRoute', ({ method, url }) => {
        for (const name of [method].flat()) routes.add(`${name} ${url}`);
      });
    },
  });
  cluster.upstream.script(jsonReply(plainCompletion('hi')));
  token = await cluster.issuer.token({ sub: 'ada', roles: ['maker'] });
  const [node] = cluster.nodes;
  for (const [name, instructions] of [
    ['allowed', 'of the allowed one'],
    ['other', 'of the other one'],
  ] as const)
    expect((await put(`/v1/applications/${bucket}/${name}`, quickApp({ instructions, model: 'm' }))).status).toBe(201);
  expect((await put(`/v1/files/${bucket}/private.txt`, {})).status).toBe(200);
  key = (await createUserKey(node, token, { deployments: ['m', 'app', allowed] })).key;
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const sendWith = (credentials: string, method: string, path: string, body?: object): Promise<TestResponse> =>
  sendWithCredentials(cluster.nodes[0], credentials, path, { method, ...(body && { body }) });
const put = (path: string, body: object) => sendWith(token, 'PUT', path, body);
const post = (credentials: string, path: string, body: object) => sendWith(credentials, 'POST', path, body);
const toPath = (route: string): string =>
  route
    .replace(/^\S+ /, '')
    .replace(/\([^)]*\)/g, '')
    .replace(':response', 'resp_x')
    .replace(':conversation', 'conv_x')
    .replace(/:\w+/g, 'x')
    .replace('*', `${bucket}/x`);

describe('a key that is bound to deployments', () => {
  it('is rejected by every route that does not accept bound keys', async () => {
    const closedRoutes = [...routes].filter(
      (route) =>
        !route.startsWith('HEAD ') && !acceptingRoutes.has(removePattern(route)) && /^\S+ \/(v1|openai\/v1)\//.test(route),
    );
    expect(closedRoutes.length).toBeGreaterThan(60);
    const answers: string[] = [];
    for (const route of closedRoutes) {
      const [method = ''] = route.split(' ');
      const answer = await sendWith(key, method, toPath(route), method === 'GET' || method === 'DELETE' ? undefined : {});
      answers.push(`${route}: ${answer.status} ${answer.text.includes('bound to deployments')}`);
    }
    expect(answers).toEqual(closedRoutes.map((route) => `${route}: 403 true`));
  });

  it('cannot replace an application that it may call', async () => {
    const copy = { sourceUrl: otherApplication, destinationUrl: allowed, overwrite: true };
    for (const operation of ['copy', 'move'])
      expect((await post(key, `/v1/ops/resource/${operation}`, copy)).error.code).toBe('access_denied');
    expect((await sendWith(key, 'GET', `/v1/metadata/${otherApplication}`)).error.code).toBe('access_denied');
    cluster.upstream.script(jsonReply(plainCompletion('hi')));
    expect(await chat(cluster.nodes[0], key, allowed)).toBe('200');
    expect(JSON.stringify(cluster.upstream.requests.at(-1)?.body)).toContain('of the allowed one');
  });

  it("grants no access to the user's files", async () => {
    let status = 0;
    cluster.upstream.script(async (exchange) => {
      status = (await sendWith(String(exchange.received.headers['api-key']), 'GET', `/v1/files/${bucket}/private.txt`)).status;
      await jsonReply(plainCompletion('hi'))(exchange);
    });
    const attachments = [{ type: 'text/plain', url: `files/${bucket}/private.txt` }];
    const messages = [{ role: 'user', content: 'Read', custom_content: { attachments } }];
    expect((await post(key, '/v1/chat/completions', { model: 'app', messages })).status).toBe(200);
    expect(status).toBe(403);
    expect((await post(token, '/v1/chat/completions', { model: 'app', messages })).status).toBe(200);
    expect(status).toBe(200);
  });

  it('reads, continues, and deletes only the responses that it stored', async () => {
    cluster.upstream.script(jsonReply(plainCompletion('hi')));
    const respond = async (credentials: string, fields: object = {}): Promise<TestResponse> =>
      post(credentials, '/v1/responses', { model: 'm', input: 'Hello', ...fields });
    const getId = ({ json }: TestResponse): string => (json as { id: string }).id;
    const sibling = (await createUserKey(cluster.nodes[0], token, { deployments: ['m'] })).key;
    const [userResponseId, siblingResponseId, ownResponseId] = [
      getId(await respond(token)),
      getId(await respond(sibling)),
      getId(await respond(key)),
    ];
    for (const id of [userResponseId, siblingResponseId]) {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/input_items'],
        ['POST', '/cancel'],
        ['DELETE', ''],
      ] as const) {
        const { status } = await sendWith(key, method, `/v1/responses/${id}${path}`, method === 'POST' ? {} : undefined);
        expect([method, path, status]).toEqual([method, path, 404]);
      }
      expect((await respond(key, { previous_response_id: id })).status).toBe(400);
    }
    const items = (await sendWith(token, 'GET', `/v1/responses/${userResponseId}/input_items`)).json as {
      data: { id: string }[];
    };
    expect((await respond(key, { input: [{ type: 'item_reference', id: items.data[0]?.id }] })).status).toBe(400);
    expect((await sendWith(key, 'GET', `/v1/responses/${ownResponseId}`)).status).toBe(200);
    expect((await sendWith(token, 'GET', `/v1/responses/${ownResponseId}`)).status).toBe(200);
    expect((await respond(key, { previous_response_id: ownResponseId })).status).toBe(200);
    expect((await sendWith(key, 'DELETE', `/v1/responses/${ownResponseId}`)).status).toBe(200);
  });

  it('reads, continues, and deletes only the conversations that it created', async () => {
    const getId = ({ json }: TestResponse): string => (json as { id: string }).id;
    const [userConversationId, ownConversationId] = [
      getId(await post(token, '/v1/conversations', {})),
      getId(await post(key, '/v1/conversations', {})),
    ];
    const item = { items: [{ role: 'user', content: 'Hello' }] };
    const readStatuses = async (id: string): Promise<number[]> => [
      (await sendWith(key, 'GET', `/v1/conversations/${id}`)).status,
      (await post(key, `/v1/conversations/${id}/items`, item)).status,
      (await sendWith(key, 'GET', `/v1/conversations/${id}/items`)).status,
      (await post(key, '/v1/responses', { model: 'm', input: 'Hello', conversation: id })).status,
      (await sendWith(key, 'DELETE', `/v1/conversations/${id}`)).status,
    ];
    cluster.upstream.script(jsonReply(plainCompletion('hi')));
    expect(await readStatuses(userConversationId)).toEqual([404, 404, 404, 400, 404]);
    expect(await readStatuses(ownConversationId)).toEqual([200, 200, 200, 200, 200]);
  });

  it('lists and calls only its deployments on each API', async () => {
    cluster.upstream.script(jsonReply(plainCompletion('hi')));
    const list = (await sendWith(key, 'GET', '/v1/models')).json as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id).sort()).toEqual([allowed, 'app', 'm'].sort());
    const message = { model: 'm', max_tokens: 9, messages: hello };
    expect((await post(key, '/anthropic/v1/messages', message)).status).toBe(200);
    expect((await post(key, '/anthropic/v1/messages', { ...message, model: 'other' })).status).toBe(403);
  });
});
