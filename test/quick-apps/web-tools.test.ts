import { OAuth2Server } from 'oauth2-mock-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jsonReply, type Received, type Reply } from '#test/scripted-upstream.ts';
import { calls, messageOf, says, stagesOf, startRig, toldTo } from './support.ts';
import { type Called, type Operation, placed, startApi, toolset } from './web-support.ts';

const { api, operation, call } = await startApi();

describe('the model', () => {
  it('is offered an operation without what is fixed and where things go', async () => {
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

  it('is told what the API gave, as a stage shows it', async () => {
    const { rig, answered } = await call(toolset(operation({ properties: { q: {} } })), { q: 'x' });
    expect(rig.sent().slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'find', arguments: '{"q":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_0', content: '{"ok":true}' },
    ]);
    expect(stagesOf(answered)).toMatchObject([
      {
        index: 0,
        name: 'find',
        status: 'completed',
        content: expect.stringMatching(/"q": "x".*\{"ok":true\}.*_\d+\.\d\d s_/s),
      },
    ]);
    expect(messageOf(answered).content).toBe('Done.');
  });
});

describe('a value goes', () => {
  it.each<[string, Operation, unknown, Partial<Pick<Received, 'method' | 'path' | 'text'>>]>([
    ['to the query, for GET', { properties: { a: {} } }, { a: 'x y' }, { method: 'GET', path: '/find?a=x%20y', text: '' }],
    [
      'to the query, for DELETE',
      { method: 'delete', properties: { a: {} } },
      { a: 1 },
      { method: 'DELETE', path: '/find?a=1', text: '' },
    ],
    [
      'to the JSON body, for POST',
      { method: 'post', properties: { a: {}, b: {} } },
      { a: 1, b: [true] },
      { method: 'POST', path: '/find', text: '{"a":1,"b":[true]}' },
    ],
    [
      'to the JSON body, for PUT and in capitals',
      { method: 'PUT', properties: { a: {} } },
      { a: null },
      { method: 'PUT', text: '{"a":null}' },
    ],
    [
      'by name into the path',
      { path: '/shops/{shop}/find', properties: { shop: {} } },
      { shop: 'a b/c' },
      { path: '/shops/a%20b%2Fc/find' },
    ],
    [
      'where parameter_info says, under its key',
      { method: 'post', properties: { a: placed('query', 'q'), b: placed('body') } },
      { a: 'x', b: 'y' },
      { path: '/find?q=x', text: '{"b":"y"}' },
    ],
    ['into the path, under its key', { path: '/{id}', properties: { a: placed('path', 'id') } }, { a: '7' }, { path: '/7' }],
    [
      'to the body of a DELETE, where it is told to',
      { method: 'delete', properties: { a: placed('body') } },
      { a: 'x' },
      { method: 'DELETE', path: '/find', text: '{"a":"x"}' },
    ],
    [
      'to the query, for a GET that is told a body',
      { properties: { a: placed('body') } },
      { a: 'x' },
      { path: '/find?a=x', text: '' },
    ],
    [
      'to the query repeated, as an array',
      { properties: { a: { type: 'array' } } },
      { a: ['x', 'y&z'] },
      { path: '/find?a=x&a=y%26z' },
    ],
    ['behind a query that is written', { path: '/find?v=1', properties: { a: {} } }, { a: 'x' }, { path: '/find?v=1&a=x' }],
    ['nowhere, where it is null', { properties: { a: {} } }, { a: null }, { path: '/find' }],
    ['nowhere, where nobody asked for it', { properties: { a: {} } }, { a: 'x', b: 'y' }, { path: '/find?a=x' }],
  ])('%s', async (_what, tool, args, expected) => {
    const { request } = await call(toolset(operation(tool)), args);
    expect(request).toMatchObject(expected);
  });

  it('to a header field', async () => {
    const { request } = await call(toolset(operation({ properties: { a: placed('header', 'X-Trace') } })), { a: 'x' });
    expect(request?.headers['x-trace']).toBe('x');
  });
});

describe('a constant', () => {
  const fixed = (type: string, key: string, value: unknown) => ({ type: null, const: value, parameter_info: { type, key } });

  it('is sent, and wins over the model', async () => {
    const properties = {
      lang: fixed('query', 'lang', 'en'),
      version: fixed('header', 'X-Version', '2'),
      shop: fixed('path', 'shop', 'main'),
      deep: fixed('body', 'deep', { a: [1] }),
      given: placed('query', 'lang'),
    };
    const tool = operation({ method: 'post', path: '/{shop}', properties });
    const args = { lang: 'x', version: 'x', shop: 'x', deep: 'x', given: 'x' };
    const { request } = await call(toolset(tool), args);
    expect(request).toMatchObject({ path: '/main?lang=en', text: '{"deep":{"a":[1]}}' });
    expect(request?.headers['x-version']).toBe('2');
  });
});

describe('the obsolete form', () => {
  const parameter = (name: string, more: object = {}) => ({ name, description: `${name}.`, parameter_type: 'string', ...more });
  const obsolete = (parameters: readonly object[], auth_info: unknown = null, method_type = 'post') => ({
    web_api_toolset: [
      {
        tool_endpoints: [{ name: 'find', method_url: `${api.url}/{shop}/find`, method_type, description: 'Finds.', parameters }],
        auth_info,
      },
    ],
  });

  it('makes the same request and the same offer as the REST form', async () => {
    const old = obsolete([
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
    const [first, second] = [await call(old, args), await call(toolset(tool), args)];
    const shown = ({ request }: Called) => [request?.method, request?.path, request?.text];
    expect(shown(first)).toEqual(['POST', '/s/find?q=x', '{"lang":"en","tags":[1,2],"none":"n"}']);
    expect(shown(second)).toEqual(shown(first));
    expect(second.rig.offered()).toEqual(first.rig.offered());
  });

  it('accepts url as another name of path', async () => {
    const properties = { shop: { type: 'string', description: 'shop.', parameter_info: { type: 'url' } } };
    const { request } = await call(toolset(operation({ method: 'get', path: '/{shop}', properties })), { shop: 'a/b' });
    expect(request?.path).toBe('/a%2Fb');
  });

  it('sends its key as api_key, in the header or the query', async () => {
    const key = { auth_type: 'apikey', api_key: 'sesame' };
    const inHeader = await call(obsolete([parameter('shop')], key), { shop: 's' });
    expect(inHeader.request?.headers.api_key).toBe('sesame');
    const inQuery = await call(obsolete([parameter('shop')], { ...key, url_param: true }, 'get'), { shop: 's' });
    expect([inQuery.request?.path, inQuery.request?.headers.api_key]).toEqual(['/s/find?api_key=sesame', undefined]);
  });

  it('stands beside the other form, in either key', async () => {
    const alternative = { web_api_toolset_alternative: (toolset(operation()) as { web_api_toolset: object }).web_api_toolset };
    const { rig } = await call({ ...obsolete([parameter('shop')]), ...alternative }, {});
    const names = rig.offered(0).map((offered) => offered.function.name);
    expect([names[0], names[1]]).toEqual(['find', expect.stringMatching(/^find_[0-9a-f]{8}$/)]);
  });
});

describe('an authorization', () => {
  const key = { type: 'api_key', key: 'sesame', name: 'X-Key', location: 'header' };

  it.each<[string, object, string, (request: Received | undefined) => unknown, unknown]>([
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
  ])('is %s', async (_what, authorization, method, sent, expected) => {
    const { request } = await call(toolset(operation({ method }), authorization), {});
    expect(sent(request)).toBe(expected);
  });

  it('is a token of the client, fetched once until it expires', async () => {
    const issuer = new OAuth2Server();
    await issuer.issuer.keys.generate('RS256');
    const asked: Record<string, unknown>[] = [];
    issuer.service.on('beforeResponse', (_response, request) => asked.push(request.body as Record<string, unknown>));
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
    expect(asked).toEqual([
      {
        ...{ grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret' },
        ...{ scope: 'read', audience: 'https://api.example' },
      },
    ]);
  });

  it('that cannot be had fails the tool, and the run goes on', async () => {
    const authorization = {
      type: 'client_id_secret',
      client_id: 'c',
      client_secret: 'canary',
      token_url: 'http://127.0.0.1:9/token',
    };
    const { rig, request, answered } = await call(toolset(operation(), authorization), {});
    expect([request, messageOf(answered).content, stagesOf(answered)[0]?.status]).toEqual([undefined, 'Done.', 'failed']);
    expect(toldTo(rig)).toEqual([expect.stringContaining('no token was given')]);
    expect(answered.text).not.toContain('canary');
  });

  it('wins over the model and over constants, and the model cannot read it', async () => {
    const properties = {
      k: placed('header', 'X-Key'),
      a: placed('header', 'x-key'),
      c: { const: 'mine', parameter_info: { type: 'header', key: 'X-KEY' } },
    };
    api.script(({ received, response }) => void response.end(JSON.stringify(received.headers)));
    const { rig, request } = await call(toolset(operation({ properties }), key), { k: 'theirs', a: 'theirs' });
    expect(request?.headers['x-key']).toBe('sesame');
    expect(toldTo(rig).join()).toContain('"x-key":"***"');
  });
});

describe('what an API answers', () => {
  it.each<[string, Reply, RegExp | string, string]>([
    ['a refusal with its reason', jsonReply({ error: 'no such pet' }, 404), 'HTTP 404: {"error":"no such pet"}', 'failed'],
    ['a fault without one', ({ response }) => void response.writeHead(500).end(), 'HTTP 500', 'failed'],
    ['a long refusal, cut', jsonReply('x'.repeat(9000), 400), /^HTTP 400: "x{1999}…$/, 'failed'],
    ['nothing', ({ response }) => void response.writeHead(204).end(), 'Done: HTTP 204, no content.', 'completed'],
    ['a connection that breaks', (answering) => answering.destroyConnection(), /^The tool failed: /, 'failed'],
  ])('is told to the model: %s', async (_what, reply, expected, status) => {
    api.script(reply);
    const { rig, answered } = await call(toolset(operation()), {});
    expect(toldTo(rig)).toEqual([typeof expected === 'string' ? expected : expect.stringMatching(expected)]);
    expect([stagesOf(answered)[0]?.status, messageOf(answered).content]).toEqual([status, 'Done.']);
  });

  it('is waited for no longer than the configuration says', async () => {
    api.script(() => undefined);
    const { rig, answered } = await call(toolset(operation()), {}, { tools: { timeoutMs: 300 } });
    expect(toldTo(rig)).toEqual([expect.stringMatching(/0\.3 s|in time/)]);
    expect(stagesOf(answered)[0]?.status).toBe('failed');
  });

  it('is shown to the user where it is not text', async () => {
    const bytes = Buffer.from([137, 80, 78, 71, 0, 255]);
    api.script(({ response }) => void response.writeHead(200, { 'content-type': 'image/png' }).end(bytes));
    const { rig, answered } = await call(toolset(operation()), {});
    expect(toldTo(rig)).toEqual(['The reply is image/png, 6 bytes. The user was shown it.']);
    const attachment = { index: 0, type: 'image/png', title: 'Reply (image/png)', data: bytes.toString('base64') };
    expect(stagesOf(answered)[0]?.attachments).toEqual([attachment]);
    expect(messageOf(answered).custom_content?.attachments).toEqual([attachment]);
  });

  it('is cut for the model at 40 kB, and whole in the stage', async () => {
    const whole = `ä${'x'.repeat(50_000)}`;
    api.script(({ response }) => void response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(whole));
    const { rig, answered } = await call(toolset(operation()), {});
    const [told] = toldTo(rig);
    const end = told?.indexOf('\n\n') ?? 0;
    expect(told?.slice(0, end)).toBe(whole.slice(0, end));
    expect(told?.slice(end)).toContain(
      `[Cut here: the result has 50002 bytes, of which these are the first ${end + 1}. read_result with id`,
    );
    expect(Buffer.byteLength(told ?? '')).toBeGreaterThan(39_900);
    expect(stagesOf(answered)[0]?.attachments).toEqual([{ index: 0, title: 'Full result', type: 'text/plain', data: whole }]);
  });
});
