import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { ToolError } from '#domain/tools/tool.ts';
import { findManifestTarget, parseDocument, readOpenApi } from './read-document.ts';

const documentUrl = new URL('https://docs.test/specs/openapi.json');
const info = { title: 'Pets', version: '1' };
const read = (document: object, url = documentUrl) => readOpenApi(parseDocument(JSON.stringify(document)), url);
const openapi = (paths: object, fields: object = {}) => read({ openapi: '3.1.0', info, paths, ...fields });
const readOnlyTool = async (operation: object, path = '/pets', method = 'post') => {
  const { tools, skipped } = await openapi({ [path]: { [method]: operation } });
  expect(skipped).toEqual([]);
  const [tool] = tools;
  if (tool === undefined) throw new Error('no tool');
  return tool;
};

const pet = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', readOnly: true },
    name: { type: 'string', description: 'Its name in lists.', example: 'Rex' },
    parent: { $ref: '#/components/schemas/Pet' },
  },
};

describe('readOpenApi', () => {
  const v2 = {
    swagger: '2.0',
    info,
    host: 'api.test',
    basePath: '/v1',
    schemes: ['https'],
    consumes: ['application/json'],
    parameters: {
      limit: { name: 'limit', in: 'query', type: 'integer' },
      tags: { name: 'tags', in: 'query', type: 'array', items: { type: 'string' } },
    },
    definitions: { Pet: JSON.parse(JSON.stringify(pet).replaceAll('components/schemas', 'definitions')) },
    paths: {
      '/pets/{owner}': {
        parameters: [{ name: 'owner', in: 'path', required: true, type: 'string' }],
        get: {
          operationId: 'listPets',
          summary: 'Lists pets.',
          parameters: [{ $ref: '#/parameters/limit' }, { $ref: '#/parameters/tags' }],
          responses: {},
        },
        post: {
          operationId: 'addPet',
          parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
          responses: {},
        },
      },
    },
  };
  const parameters = (schema: (rest: object) => object, ref: string, list: object) => [
    { $ref: `${ref}/limit` },
    { name: 'tags', in: 'query', ...schema({ type: 'array', items: { type: 'string' } }), ...list },
  ];
  const v3 = (version: string) => ({
    openapi: version,
    info,
    servers: [{ url: 'https://api.test/v1' }],
    components: { parameters: { limit: { name: 'limit', in: 'query', schema: { type: 'integer' } } }, schemas: { Pet: pet } },
    paths: {
      '/pets/{owner}': {
        parameters: [{ name: 'owner', in: 'path', required: true, schema: { type: 'string' } }],
        get: {
          operationId: 'listPets',
          summary: 'Lists pets.',
          parameters: parameters((schema) => ({ schema }), '#/components/parameters', { style: 'form', explode: false }),
          responses: {},
        },
        post: {
          operationId: 'addPet',
          requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
          responses: {},
        },
      },
    },
  });
  const expected = [
    {
      name: 'listPets',
      description: 'Lists pets.',
      method: 'GET',
      url: 'https://api.test/v1/pets/{owner}',
      parameters: {
        type: 'object',
        properties: { owner: { type: 'string' }, limit: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
        required: ['owner'],
      },
      arguments: [
        { name: 'owner', location: 'path', key: 'owner' },
        { name: 'limit', location: 'query', key: 'limit' },
        { name: 'tags', location: 'query', key: 'tags', style: 'form', explode: false },
      ],
      constants: [],
      contentType: 'application/json',
      isPublic: false,
    },
    {
      name: 'addPet',
      description: 'POST /pets/{owner}',
      method: 'POST',
      url: 'https://api.test/v1/pets/{owner}',
      parameters: {
        type: 'object',
        properties: {
          owner: { type: 'string' },
          name: { type: 'string', description: 'Its name in lists.' },
          parent: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string', description: 'Its name in lists.' }, parent: {} },
          },
        },
        required: ['owner', 'name'],
      },
      arguments: [
        { name: 'owner', location: 'path', key: 'owner' },
        { name: 'name', location: 'body', key: 'name' },
        { name: 'parent', location: 'body', key: 'parent' },
      ],
      constants: [],
      contentType: 'application/json',
      isPublic: false,
    },
  ];

  it.each([
    ['2.0', v2],
    ['3.0', v3('3.0.3')],
    ['3.1', v3('3.1.0')],
  ])('reads version %s from JSON and YAML', async (_version, document) => {
    for (const { title, tools, skipped } of [
      await read(document),
      await readOpenApi(parseDocument(stringify(document)), documentUrl),
    ])
      expect({ title, tools, skipped }).toEqual({ title: 'Pets', tools: expected, skipped: [] });
  });

  it.each([
    ['an empty text', ''],
    ['a web page', '<!doctype html><html></html>'],
    ['other JSON', '{"a":1}'],
    ['a list', '[1]'],
    ['incomplete JSON', '{"openapi":'],
    ['a forbidden key', '{"openapi":"3.1.0","__proto__":{}}'],
    ['incomplete YAML', 'openapi: "3.1.0\npaths: ['],
    [
      'a YAML alias bomb',
      `openapi: 3.1.0\na0: &a0 [1,1,1,1,1,1,1,1,1,1]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(',')}]`).join('\n')}`,
    ],
    ['deeply nested lists', `{"openapi":"3.1.0","paths":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['deeply nested YAML lists', `openapi: 3.1.0\npaths: ${'['.repeat(20_000)}`],
  ])('rejects %s', async (_what, text) => {
    await expect((async () => readOpenApi(parseDocument(text), documentUrl))()).rejects.toBeInstanceOf(ToolError);
  });
});

describe('readOpenApi references', () => {
  const secretFile = () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'secret.json');
    writeFileSync(
      file,
      JSON.stringify({ name: 'canary-secret', in: 'query', schema: { type: 'string', description: 'canary-secret' } }),
    );
    return file;
  };

  it.each([
    ['a path', (file: string) => file],
    ['a path with a pointer', (file: string) => `${file}#/schema`],
    ['a file: address', (file: string) => `file://${file}`],
    ['a relative path', () => '../../../../etc/passwd'],
    ['http to this machine', () => 'http://127.0.0.1:1/secret.json'],
    ['http', () => 'https://example.com/schema.json#/a'],
  ])('rejects and does not read %s', async (_what, target) => {
    const $ref = target(secretFile());
    const inParameter = { parameters: [{ $ref }], responses: {} };
    const inSchema = {
      requestBody: { content: { 'application/json': { schema: { properties: { a: { $ref } } } } } },
      responses: {},
    };
    for (const operation of [inParameter, inSchema]) {
      const result = openapi({ '/a': { post: operation } });
      await expect(result).rejects.toThrow('another document ($ref), which is not supported');
      await expect(result).rejects.not.toThrow('canary-secret');
    }
  });

  it('skips an operation with an unresolved parameter and leaves an unresolved schema open', async () => {
    const { tools, skipped } = await openapi({
      '/a': { get: { parameters: [{ $ref: '#/nowhere' }] } },
      '/b': {
        post: {
          requestBody: { content: { 'application/json': { schema: { properties: { x: { $ref: '#/nowhere/at/all' } } } } } },
        },
      },
    });
    expect(skipped).toEqual([{ name: 'get_a', reason: 'one of its parameters is not defined' }]);
    expect(tools.map(({ parameters }) => parameters)).toEqual([{ type: 'object', properties: { x: {} } }]);
  });

  it('ends at a circular reference', async () => {
    const components = { schemas: { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } } };
    const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } };
    const { tools } = await openapi({ '/a': { post: { requestBody: body } } }, { components });
    expect(tools[0]?.arguments).toEqual([{ name: 'body', location: 'whole_body', key: 'body' }]);
  });

  it('bounds references that double at every step', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `S${i}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => [key, { $ref: `#/components/schemas/S${i + 1}` }]),
          ),
        },
      ]),
    );
    const body = { content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } };
    const { tools } = await openapi(
      { '/a': { post: { requestBody: body } } },
      { components: { schemas: { ...schemas, S30: {} } } },
    );
    expect(JSON.stringify(tools).length).toBeLessThan(200_000);
  });
});

describe('readOpenApi schemas', () => {
  it('converts a schema of an earlier draft in an OpenAPI 3.1 document to JSON Schema 2020-12', async () => {
    const schema = {
      type: 'object',
      properties: {
        count: { type: ['integer'], minimum: 0, exclusiveMinimum: true, required: true },
        note: { type: 'string', nullable: true },
      },
    };
    const { tools } = await openapi({ '/a': { post: { requestBody: { content: { 'application/json': { schema } } } } } });
    expect(tools.map(({ parameters }) => parameters)).toEqual([
      {
        type: 'object',
        properties: { count: { type: 'integer', exclusiveMinimum: 0 }, note: { type: ['string', 'null'] } },
        required: ['count'],
      },
    ]);
  });
});

describe('readOpenApi operations', () => {
  it.each([
    [{}, 'post_pets'],
    [{ operationId: 'pets.add' }, 'pets.add'],
    [{ operationId: ' ' }, 'post_pets'],
  ])('uses the operation ID as the name, with the method and path as a fallback: %j', async (operation, name) => {
    expect((await readOnlyTool(operation)).name).toBe(name);
  });

  it('overrides parameters of the path by parameters of the operation', async () => {
    const { tools } = await openapi({
      '/a': {
        parameters: [{ name: 'q', in: 'query', schema: { type: 'integer' } }],
        get: { parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }] },
      },
    });
    expect(tools[0]?.parameters).toEqual({ type: 'object', properties: { q: { type: 'string' } } });
  });

  it('assigns separate valid argument names to the same key in several locations', async () => {
    const tool = await readOnlyTool(
      {
        parameters: [
          { name: 'id', in: 'path', required: true },
          { name: 'id', in: 'query' },
          { name: 'filter[name]', in: 'query' },
          { name: '__proto__', in: 'query' },
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { properties: { id: {} }, required: ['id'] } } },
        },
      },
      '/pets/{id}',
    );
    expect(tool.arguments).toEqual([
      { name: 'id', location: 'path', key: 'id' },
      { name: 'query_id', location: 'query', key: 'id' },
      { name: 'filter_name_', location: 'query', key: 'filter[name]' },
      { name: 'query___proto__', location: 'query', key: '__proto__' },
      { name: 'body_id', location: 'body', key: 'id' },
    ]);
    expect(tool.parameters.required).toEqual(['id', 'body_id']);
  });

  it('omits headers that the client sets', async () => {
    const header = (name: string) => ({ name, in: 'header', required: true });
    const { arguments: toolArguments } = await readOnlyTool({
      parameters: [header('Accept'), header('Authorization'), header('content-type'), header('X-Trace')],
    });
    expect(toolArguments.map(({ key }) => key)).toEqual(['X-Trace']);
  });

  it('adds path parameters that the document does not describe', async () => {
    expect((await readOnlyTool({}, '/a/{b}/{c}', 'get')).parameters.required).toEqual(['b', 'c']);
  });

  it('merges the fields of an allOf body', async () => {
    const schema = { allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: {} } }] };
    const tool = await readOnlyTool({ requestBody: { content: { 'application/json': { schema } } } });
    expect([tool.arguments.map(({ key }) => key), tool.parameters.required]).toEqual([['a', 'b'], ['a']]);
  });

  it.each([
    'application/json; charset=utf-8',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ])('sends the body as %s', async (type) => {
    const schema = { properties: { a: {} } };
    expect(await readOnlyTool({ requestBody: { content: { [type]: { schema } } } })).toMatchObject({
      contentType: type,
      arguments: [{ key: 'a', location: 'body' }],
    });
  });

  it('supports forms, files, and list formats of OpenAPI 2.0', async () => {
    const list = (name: string, fields: object) => ({ name, in: 'query', type: 'array', items: { type: 'string' }, ...fields });
    const document = {
      swagger: '2.0',
      host: 'api.test',
      paths: {
        '/a': {
          get: {
            parameters: [list('m', { collectionFormat: 'multi' }), list('p', { collectionFormat: 'pipes' }), list('c', {})],
          },
          post: { consumes: ['multipart/form-data'], parameters: [{ name: 'file', in: 'formData', type: 'file' }] },
          put: {
            consumes: ['application/x-www-form-urlencoded'],
            parameters: [{ name: 'n', in: 'formData', type: 'string' }],
          },
        },
      },
    };
    const { tools } = await read(document);
    expect(tools.map((tool) => [tool.arguments, tool.contentType])).toEqual([
      [
        [
          { name: 'm', location: 'query', key: 'm' },
          { name: 'p', location: 'query', key: 'p', style: 'pipeDelimited', explode: false },
          { name: 'c', location: 'query', key: 'c', style: 'form', explode: false },
        ],
        'application/json',
      ],
      [[{ name: 'file', location: 'body', key: 'file', isFile: true }], 'multipart/form-data'],
      [[{ name: 'n', location: 'body', key: 'n' }], 'application/x-www-form-urlencoded'],
    ]);
  });

  it('skips operations that cannot be called', async () => {
    const { tools, skipped } = await openapi({
      '/upload': { post: { requestBody: { required: true, content: {} } } },
      '/cookie': { get: { parameters: [{ name: 'sid', in: 'cookie', required: true }] } },
      '/ftp': { get: { servers: [{ url: 'ftp://api.test' }] } },
      '/odd': { get: { servers: [{ url: 'https://{region}.api.test' }] } },
      '/head': { head: {}, options: {} },
    });
    expect(tools).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual([
      'its required body has no media type',
      'it requires sid in a cookie',
      'its server uses the unsupported protocol ftp:',
      'its server URL is invalid',
    ]);
  });

  it('marks operations without a security requirement as public', async () => {
    const { tools } = await openapi(
      { '/a': { get: { security: [] }, post: {}, put: { security: [{ key: [] }] } } },
      { security: [{ key: [] }] },
    );
    expect(tools.map(({ method, isPublic }) => [method, isPublic])).toEqual([
      ['GET', true],
      ['POST', false],
      ['PUT', false],
    ]);
  });
});

describe('readOpenApi server URLs', () => {
  it.each([
    [undefined, 'https://docs.test/a'],
    [[{ url: '/' }], 'https://docs.test/a'],
    [[{ url: '/api/v2/' }], 'https://docs.test/api/v2/a'],
    [[{ url: '../v3' }], 'https://docs.test/v3/a'],
    [[{ url: 'v3' }], 'https://docs.test/specs/v3/a'],
    [[{ url: '//other.test/x' }], 'https://other.test/x/a'],
    [[{ url: 'http://other.test:8080' }, { url: 'http://second.test' }], 'http://other.test:8080/a'],
    [
      [{ url: 'https://{region}.api.test/{base}', variables: { region: { default: 'eu' }, base: { default: 'v1' } } }],
      'https://eu.api.test/v1/a',
    ],
  ])('resolves %j against the document', async (servers, url) => {
    const { tools } = await openapi({ '/a': { get: {} } }, servers && { servers });
    expect(tools[0]?.url).toBe(url);
  });

  it('uses the server of the operation before the servers of its path and the document', async () => {
    const paths = {
      '/a': { servers: [{ url: 'https://path.test' }], get: { servers: [{ url: 'https://operation.test' }] }, put: {} },
    };
    const { tools } = await openapi(paths, { servers: [{ url: 'https://document.test' }] });
    expect(tools.map(({ url }) => url)).toEqual(['https://operation.test/a', 'https://path.test/a']);
  });
});

describe('findManifestTarget', () => {
  const manifest = (url: unknown) =>
    parseDocument(
      JSON.stringify({ schema_version: 'v1', name_for_model: 'pets', auth: { type: 'none' }, api: { type: 'openapi', url } }),
    );

  it.each([
    ['https://api.test/openapi.yaml', 'https://api.test/openapi.yaml'],
    ['/openapi.yaml', 'https://docs.test/openapi.yaml'],
    ['openapi.yaml', 'https://docs.test/specs/openapi.yaml'],
  ])('resolves the document URL %s', (url, target) => {
    expect(findManifestTarget(manifest(url), documentUrl)?.href).toBe(target);
  });

  it('returns undefined for a manifest without a URL and for an OpenAPI document', () => {
    expect(findManifestTarget(manifest(undefined), documentUrl)).toBeUndefined();
    expect(findManifestTarget({ openapi: '3.1.0', api: { url: 'https://x.test' } }, documentUrl)).toBeUndefined();
  });

  it('rejects an invalid URL', () => {
    expect(() => findManifestTarget(manifest('http://'), documentUrl)).toThrow(ToolError);
  });
});
