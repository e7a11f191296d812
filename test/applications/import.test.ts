import swagger from '@fastify/swagger';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp, save } from './support.ts';

let shop: FastifyInstance;
let shopUrl: string;
let service: TestService;

/** A shop server that generates its OpenAPI document with standard plugins. */
async function startShop(): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(swagger, {
    openapi: {
      info: { title: 'Shop', version: '1' },
      components: { securitySchemes: { shopKey: { type: 'apiKey', in: 'header', name: 'x-shop-key' } } },
      security: [{ shopKey: [] }],
    },
  });
  const schema = {
    operationId: 'countStock',
    description: 'Counts the stock.',
    params: { type: 'object', properties: { item: { type: 'string' } } },
    querystring: { type: 'object', properties: { colour: { type: 'string' } } },
  };
  app.get<{ Params: { item: string }; Querystring: { colour: string } }>('/stock/:item', { schema }, (request) => {
    const { item } = request.params;
    return { said: `7 ${request.query.colour} ${item} for ${request.headers['x-shop-key']}` };
  });
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger());
  return app;
}

beforeAll(async () => {
  shop = await startShop();
  shopUrl = await shop.listen({ host: '127.0.0.1', port: 0 });
  service = await startService({ security: { allowPrivateNetworks: ['127.0.0.1'] } });
});

afterAll(async () => {
  await service.close();
  await shop.close();
});

function importDocument(body: unknown, headers = withKey(), target = service): Promise<TestResponse> {
  return target.sendRequest({ path: '/v1/import-openapi', headers, body });
}

interface ImportResult {
  readonly toolsets: { authorization: { key: string } }[];
  readonly notes: string[];
}

describe('an imported document', () => {
  it('becomes tools that call its operations after the user adds the key', async () => {
    const { status, json } = await importDocument({ url: `${shopUrl}/openapi.json` });
    const { toolsets, notes } = json as ImportResult;
    expect([status, notes, toolsets]).toMatchObject([
      200,
      [],
      [{ name: 'Shop', authorization: { type: 'api_key', name: 'x-shop-key', location: 'header' } }],
    ]);
    await using model = await startScriptedUpstream(callCountStock);
    await using ownService = await startService({
      models: { model: { upstreams: [{ endpoint: model.endpoint }] } },
      security: { allowPrivateNetworks: ['127.0.0.1'] },
    });
    const [toolset] = toolsets;
    const toolsetsWithKey = [{ ...toolset, authorization: { ...toolset?.authorization, key: 'sesame' } }];
    expect(
      (await save(ownService, getApplicationPath('shop'), quickApp({ model: 'model', web_api_toolset: toolsetsWithKey }))).status,
    ).toBe(201);
    const messages = [{ role: 'user', content: 'How many red shoes are there?' }];
    const { completion } = await ownService.chat(`applications/${ownBucket}/shop`, { messages });
    // Parley masks the key that the server echoes.
    expect(completion.choices[0]?.message.content).toBe('{"said":"7 red shoes & socks for ***"}');
  });

  it('can be part of the request as an object or as text, with its URL', async () => {
    const document = shop.swagger();
    for (const content of [document, JSON.stringify(document)]) {
      const { json } = await importDocument({ document: content, url: 'https://shop.example/docs/openapi.json' });
      expect(JSON.stringify(json)).toContain('"method_url":"https://shop.example/stock/{item}"');
      expect(await importDocument({ document: content, exclude: ['countStock'] })).toMatchObject({ json: { toolsets: [] } });
    }
  });
});

async function callCountStock(exchange: UpstreamExchange): Promise<void> {
  const messages = exchange.received.body.messages as { role: string; content: string }[];
  const last = messages.at(-1);
  if (last?.role === 'tool') return jsonReply(plainCompletion(last.content))(exchange);
  const args = JSON.stringify({ item: 'shoes & socks', colour: 'red' });
  const call = { id: 'call_1', type: 'function', function: { name: 'countStock', arguments: args } };
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  return jsonReply(plainCompletion('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))(exchange);
}

it('an import treats null fields as absent', async () => {
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, servers: [{ url: 'https://x.example' }], paths: {} };
  const { status, json } = await importDocument({ document, url: null, include: null, exclude: null });
  expect([status, json]).toMatchObject([200, { toolsets: [] }]);
  expect((await importDocument({ document: null, url: null })).error.param).toBe('url');
});

describe('an import is rejected', () => {
  it.each<[string, unknown, string | null]>([
    ['without a document', {}, 'url'],
    ['with an invalid URL', { url: 'file:///etc/passwd' }, 'url'],
    ['with an unknown field', { url: 'https://x.example/', urls: [] }, 'urls'],
    ['with names that are not an array', { url: 'https://x.example/', include: 'a' }, 'include'],
    ['without an OpenAPI document', { document: 'hello' }, 'document'],
    [
      'with a document that references a file',
      { document: { openapi: '3.1.0', paths: { '/a': { $ref: '/etc/passwd' } } } },
      'document',
    ],
    ['with an unreachable document', { url: 'http://127.0.0.1:9/' }, 'url'],
  ])('%s', async (_description, body, param) => {
    const { status, error } = await importDocument(body);
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
  });

  it('if the network guard blocks the URL', async () => {
    await using ownService = await startService({});
    const { error } = await importDocument({ url: `${shopUrl}/openapi.json` }, withKey(), ownService);
    expect(error.message).toContain('127.0.0.1 is or resolves to a blocked address');
  });

  it('without a key, with another media type, and with a document that is too large', async () => {
    expect((await importDocument({}, { 'content-type': 'application/json' })).status).toBe(401);
    expect((await importDocument('{}', { ...withKey(), 'content-type': 'text/plain' })).status).toBe(415);
    expect((await importDocument({ document: 'x'.repeat(3_000_000) })).status).toBe(413);
    await using large = await startScriptedUpstream(({ response }) => void response.end('x'.repeat(3_000_000)));
    expect((await importDocument({ url: large.url })).error.param).toBe('url');
  });
});
