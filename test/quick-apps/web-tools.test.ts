import { OAuth2Server } from 'oauth2-mock-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jsonReply, type ReceivedRequest, type Reply } from '#test/scripted-upstream.ts';
import { calls, getMessage, getStages, getToolMessages, says, startRig } from './support.ts';
import { type CallResult, createParameter, type Operation, startApi, toolset } from './web-support.ts';

const { api, operation, call } = await startApi();

describe('a tool of a web API', () => {
  it('is offered without constants and without parameter locations', async () => {
    const properties = {
      q: { type: 'string', description: 'What.', parameter_info: { type: 'query' } },
      lang: { const: 'en', type: null },
    };
    const { rig } = await call(toolset(operation({ properties, required: ['q', 'lang'] })), {});
    expect(rig.offered(0)).toEqual([
      {
        type: 'function',
        function: {
          name: 'find',
          description: 'Finds.',
          parameters: { type: 'object', properties: { q: { type: 'string', description: 'What.' } }, required: ['q'] },
        },
      },
    ]);
  });

  it('returns the reply of the API to the model, and a stage shows it', async () => {
    const { rig, response } = await call(toolset(operation({ properties: { q: {} } })), { q: 'x' });
    expect(rig.sent().slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'find', arguments: '{"q":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_0', content: '{"ok":true}' },
    ]);
    expect(getStages(response)).toMatchObject([
      {
        index: 0,
        name: 'find',
        status: 'completed',
        content: expect.stringMatching(/"q": "x".*\{"ok":true\}.*_\d+\.\d\d s_/s),
      },
    ]);
    expect(getMessage(response).content).toBe('Done.');
  });
});

describe('an argument', () => {
  it.each<[string, Operation, unknown, Partial<Pick<ReceivedRequest, 'method' | 'path' | 'text'>>]>([
    ['is sent in the query for GET', { properties: { a: {} } }, { a: 'x y' }, { method: 'GET', path: '/find?a=x%20y', text: '' }],
    [
      'is sent in the query for DELETE',
      { method: 'delete', properties: { a: {} } },
      { a: 1 },
      { method: 'DELETE', path: '/find?a=1', text: '' },
    ],
    [
      'is sent in the JSON body for POST',
      { method: 'post', properties: { a: {}, b: {} } },
      { a: 1, b: [true] },
      { method: 'POST', path: '/find', text: '{"a":1,"b":[true]}' },
    ],
    [
      'is sent in the JSON body for PUT, even in uppercase',
      { method: 'PUT', properties: { a: {} } },
      { a: null },
      { method: 'PUT', text: '{"a":null}' },
    ],
    [
      'is inserted into the path by its name',
      { path: '/shops/{shop}/find', properties: { shop: {} } },
      { shop: 'a b/c' },
      { path: '/shops/a%20b%2Fc/find' },
    ],
    [
      'is sent at the location of its parameter_info, under that key',
      { method: 'post', properties: { a: createParameter('query', 'q'), b: createParameter('body') } },
      { a: 'x', b: 'y' },
      { path: '/find?q=x', text: '{"b":"y"}' },
    ],
    [
      'is inserted into the path under its key',
      { path: '/{id}', properties: { a: createParameter('path', 'id') } },
      { a: '7' },
      { path: '/7' },
    ],
    [
      'is sent in the body of a DELETE request if its parameter_info names the body',
      { method: 'delete', properties: { a: createParameter('body') } },
      { a: 'x' },
      { method: 'DELETE', path: '/find', text: '{"a":"x"}' },
    ],
    [
      'is sent in the query for GET even if its parameter_info names the body',
      { properties: { a: createParameter('body') } },
      { a: 'x' },
      { path: '/find?a=x', text: '' },
    ],
    [
      'is repeated in the query if it is an array',
      { properties: { a: { type: 'array' } } },
      { a: ['x', 'y&z'] },
      { path: '/find?a=x&a=y%26z' },
    ],
    ['is appended to an existing query', { path: '/find?v=1', properties: { a: {} } }, { a: 'x' }, { path: '/find?v=1&a=x' }],
    ['is omitted if it is null', { properties: { a: {} } }, { a: null }, { path: '/find' }],
    ['is omitted if the tool has no such parameter', { properties: { a: {} } }, { a: 'x', b: 'y' }, { path: '/find?a=x' }],
  ])('%s', async (_description, tool, args, expected) => {
    const { request } = await call(toolset(operation(tool)), args);
    expect(request).toMatchObject(expected);
  });

  it('is sent as a header', async () => {
    const { request } = await call(toolset(operation({ properties: { a: createParameter('header', 'X-Trace') } })), { a: 'x' });
    expect(request?.headers['x-trace']).toBe('x');
  });
});

describe('a constant', () => {
  const createConstant = (type: string, key: string, value: unknown) => ({
    type: null,
    const: value,
    parameter_info: { type, key },
  });

  it('is sent instead of the value of the model', async () => {
    const properties = {
      lang: createConstant('query', 'lang', 'en'),
      version: createConstant('header', 'X-Version', '2'),
      shop: createConstant('path', 'shop', 'main'),
      deep: createConstant('body', 'deep', { a: [1] }),
      given: createParameter('query', 'lang'),
    };
    const tool = operation({ method: 'post', path: '/{shop}', properties });
    const args = { lang: 'x', version: 'x', shop: 'x', deep: 'x', given: 'x' };
    const { request } = await call(toolset(tool), args);
    expect(request).toMatchObject({ path: '/main?lang=en', text: '{"deep":{"a":[1]}}' });
    expect(request?.headers['x-version']).toBe('2');
  });
});

describe('the obsolete format', () => {
  const parameter = (name: string, fields: object = {}) => ({
    name,
    description: `${name}.`,
    parameter_type: 'string',
    ...fields,
  });
  const createObsoleteToolset = (parameters: readonly object[], auth_info: unknown = null, method_type = 'post') => ({
    web_api_toolset: [
      {
        tool_endpoints: [{ name: 'find', method_url: `${api.url}/{shop}/find`, method_type, description: 'Finds.', parameters }],
        auth_info,
      },
    ],
  });

  it('sends the same requests and offers the same tools as the REST format', async () => {
    const obsoleteApp = createObsoleteToolset([
      parameter('shop'),
      parameter('q', { url_param: true }),
      parameter('tags', { parameter_type: 'array', item_parameter_type: 'integer', item_descriptor: 'A tag.' }),
      parameter('lang', { constant_value: 'en' }),
      parameter('none', { constant_value: null }),
    ]);
    const properties = {
      shop: { type: 'string', description: 'shop.', parameter_info: { type: 'path' } },
      q: { type: 'string', description: 'q.', parameter_info: { type: 'query' } },
      tags: {
        type: 'array',
        description: 'tags.',
        items: { type: 'integer', description: 'A tag.' },
        parameter_info: { type: 'body' },
      },
      lang: { const: 'en', parameter_info: { type: 'body' } },
      none: { type: 'string', description: 'none.', parameter_info: { type: 'body' } },
    };
    const tool = operation({ method: 'post', path: '/{shop}/find', properties, required: ['shop', 'q', 'tags', 'none'] });
    const args = { shop: 's', q: 'x', tags: [1, 2], none: 'n', lang: 'x' };
    const [first, second] = [await call(obsoleteApp, args), await call(toolset(tool), args)];
    const getRequestParts = ({ request }: CallResult) => [request?.method, request?.path, request?.text];
    expect(getRequestParts(first)).toEqual(['POST', '/s/find?q=x', '{"lang":"en","tags":[1,2],"none":"n"}']);
    expect(getRequestParts(second)).toEqual(getRequestParts(first));
    expect(second.rig.offered()).toEqual(first.rig.offered());
  });

  it('accepts url as another name of path', async () => {
    const properties = { shop: { type: 'string', description: 'shop.', parameter_info: { type: 'url' } } };
    const { request } = await call(toolset(operation({ method: 'get', path: '/{shop}', properties })), { shop: 'a/b' });
    expect(request?.path).toBe('/a%2Fb');
  });

  it('sends its key as api_key, in the header or the query', async () => {
    const key = { auth_type: 'apikey', api_key: 'sesame' };
    const inHeader = await call(createObsoleteToolset([parameter('shop')], key), { shop: 's' });
    expect(inHeader.request?.headers.api_key).toBe('sesame');
    const inQuery = await call(createObsoleteToolset([parameter('shop')], { ...key, url_param: true }, 'get'), { shop: 's' });
    expect([inQuery.request?.path, inQuery.request?.headers.api_key]).toEqual(['/s/find?api_key=sesame', undefined]);
  });

  it('can be combined with the REST format under another key', async () => {
    const alternative = { web_api_toolset_alternative: (toolset(operation()) as { web_api_toolset: object }).web_api_toolset };
    const { rig } = await call({ ...createObsoleteToolset([parameter('shop')]), ...alternative }, {});
    const names = rig.offered(0).map((tool) => tool.function.name);
    expect([names[0], names[1]]).toEqual(['find', expect.stringMatching(/^find_[0-9a-f]{8}$/)]);
  });
});

describe('an authorization', () => {
  const key = { type: 'api_key', key: 'sesame', name: 'X-Key', location: 'header' };

  it.each<[string, object, string, (request: ReceivedRequest | undefined) => unknown, unknown]>([
    ['a key in the header', key, 'get', (request) => request?.headers['x-key'], 'sesame'],
    ['a key in the query', { ...key, location: 'query' }, 'get', (request) => request?.path, '/find?X-Key=sesame'],
    ['a key in the body', { ...key, location: 'body' }, 'post', (request) => request?.text, '{"X-Key":"sesame"}'],
    [
      'a user name and password',
      { type: 'basic', username: 'ann', password: 'pä:ss' },
      'get',
      (request) => request?.headers.authorization,
      `Basic ${Buffer.from('ann:pä:ss').toString('base64')}`,
    ],
    ['a bearer token', { type: 'bearer', token: 't' }, 'get', (request) => request?.headers.authorization, 'Bearer t'],
  ])('can be %s', async (_description, authorization, method, readCredentials, expected) => {
    const { request } = await call(toolset(operation({ method }), authorization), {});
    expect(readCredentials(request)).toBe(expected);
  });

  it('can be a token of the client credentials grant, which is fetched once until it expires', async () => {
    const issuer = new OAuth2Server();
    await issuer.issuer.keys.generate('RS256');
    const tokenRequests: Record<string, unknown>[] = [];
    issuer.service.on('beforeResponse', (_response, request) => tokenRequests.push(request.body as Record<string, unknown>));
    await issuer.start(0, '127.0.0.1');
    onTestFinished(() => issuer.stop());
    const { port } = issuer.address();
    const authorization = {
      ...{ type: 'client_id_secret', client_id: 'client', client_secret: 'secret' },
      ...{ token_url: `http://127.0.0.1:${port}/token`, scope: 'read', aud: 'https://api.example' },
    };
    const before = api.requests.length;
    const replies = [calls(['find', {}], ['find', {}]), says('Done.'), calls(['find', {}]), says('Done.')];
    await using rig = await startRig({ app: toolset(operation(), authorization), replies });
    await rig.chat('Find it twice.');
    await rig.chat('Find it again.');
    const tokens = api.requests.slice(before).map(({ headers }) => headers.authorization);
    expect(new Set(tokens)).toEqual(new Set([expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)]));
    expect(tokens).toHaveLength(3);
    expect(tokenRequests).toEqual([
      {
        ...{ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret' },
        ...{ scope: 'read', audience: 'https://api.example' },
      },
    ]);
  });

  it('that is unavailable makes the tool fail, and the run continues', async () => {
    const authorization = {
      type: 'client_id_secret',
      client_id: 'c',
      client_secret: 'canary',
      token_url: 'http://127.0.0.1:9/token',
    };
    const { rig, request, response } = await call(toolset(operation(), authorization), {});
    expect([request, getMessage(response).content, getStages(response)[0]?.status]).toEqual([undefined, 'Done.', 'failed']);
    expect(getToolMessages(rig)).toEqual([expect.stringContaining('cannot get a token')]);
    expect(response.text).not.toContain('canary');
  });

  it('takes precedence over arguments and constants, and the model cannot read it', async () => {
    const properties = {
      k: createParameter('header', 'X-Key'),
      a: createParameter('header', 'x-key'),
      c: { const: 'mine', parameter_info: { type: 'header', key: 'X-KEY' } },
    };
    api.script(({ received, response }) => void response.end(JSON.stringify(received.headers)));
    const { rig, request } = await call(toolset(operation({ properties }), key), { k: 'theirs', a: 'theirs' });
    expect(request?.headers['x-key']).toBe('sesame');
    expect(getToolMessages(rig).join()).toContain('"x-key":"***"');
  });
});

describe('the reply of an API', () => {
  it.each<[string, Reply, RegExp | string, string]>([
    ['an error with its reason', jsonReply({ error: 'no such pet' }, 404), 'HTTP 404: {"error":"no such pet"}', 'failed'],
    ['an error without a reason', ({ response }) => void response.writeHead(500).end(), 'HTTP 500', 'failed'],
    ['a long error, truncated', jsonReply('x'.repeat(9000), 400), /^HTTP 400: "x{1999}…$/, 'failed'],
    ['an empty reply', ({ response }) => void response.writeHead(204).end(), 'Done: HTTP 204, no content.', 'completed'],
    ['a broken connection', (exchange) => exchange.destroyConnection(), /^The tool failed: /, 'failed'],
  ])('is sent to the model: %s', async (_description, reply, expected, status) => {
    api.script(reply);
    const { rig, response } = await call(toolset(operation()), {});
    expect(getToolMessages(rig)).toEqual([typeof expected === 'string' ? expected : expect.stringMatching(expected)]);
    expect([getStages(response)[0]?.status, getMessage(response).content]).toEqual([status, 'Done.']);
  });

  it('is awaited no longer than the configured timeout', async () => {
    api.script(() => undefined);
    const { rig, response } = await call(toolset(operation()), {}, { tools: { timeoutMs: 300 } });
    expect(getToolMessages(rig)).toEqual([expect.stringMatching(/0\.3 s|in time/)]);
    expect(getStages(response)[0]?.status).toBe('failed');
  });

  it('is attached for the user if it is not text', async () => {
    const bytes = Buffer.from([137, 80, 78, 71, 0, 255]);
    api.script(({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(bytes));
    const { rig, response } = await call(toolset(operation()), {});
    expect(getToolMessages(rig)).toEqual(['The reply is image/png, 6 bytes. The user was shown it.']);
    const attachment = { index: 0, type: 'image/png', title: 'Reply (image/png)', data: bytes.toString('base64') };
    expect(getStages(response)[0]?.attachments).toEqual([attachment]);
    expect(getMessage(response).custom_content?.attachments).toEqual([attachment]);
  });

  it('is truncated for the model at 40 kB, and complete in the stage', async () => {
    const content = `ä${'x'.repeat(50_000)}`;
    api.script(({ response }) => void response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(content));
    const { rig, response } = await call(toolset(operation()), {});
    const [toolMessage] = getToolMessages(rig);
    const end = toolMessage?.indexOf('\n\n') ?? 0;
    expect(toolMessage?.slice(0, end)).toBe(content.slice(0, end));
    expect(toolMessage?.slice(end)).toContain(
      `[Truncated: these are the first ${end + 1} of 50002 bytes of the result. read_result with id`,
    );
    expect(Buffer.byteLength(toolMessage ?? '')).toBeGreaterThan(39_900);
    expect(getStages(response)[0]?.attachments).toEqual([{ index: 0, title: 'Full result', type: 'text/plain', data: content }]);
  });
});
