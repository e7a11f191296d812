import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { findQuickAppIssues } from '#contract/quick-app/quick-app-issues.ts';
import { toRestToolDefinition } from '#domain/quick-app/to-quick-app.ts';
import { parseDocument, readOpenApi } from './read-document.ts';
import { type OperationSelection, toRestApiTool, toToolsets } from './to-toolsets.ts';
import '#test/same-cases.ts';
import type { RestMethod, RestToolDefinition } from '#domain/tools/rest-tool.ts';

const documentUrl = new URL('https://api.example/openapi.json');
const info = { title: 'Pet Shop', version: '1' };

const definition: RestToolDefinition = {
  name: 'find',
  description: 'Finds.',
  method: 'POST',
  url: 'https://api.example/{shop}/find',
  parameters: {
    type: 'object',
    properties: { shop: { type: 'string' }, query: { type: 'string', description: 'What.' }, many: { type: 'array' } },
    required: ['shop'],
  },
  arguments: [
    { name: 'shop', location: 'path', key: 'shop' },
    { name: 'query', location: 'query', key: 'q' },
    { name: 'many', location: 'body', key: 'many' },
  ],
  constants: [{ location: 'header', key: 'X-Version', value: 2 }],
  contentType: 'application/json',
  isPublic: false,
};

const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,20}$/);
const unusualName = fc.oneof(name, fc.constantFrom('constructor', 'toString', '2', 'hasOwnProperty'));
const location = fc.constantFrom('path', 'query', 'header', 'body' as const);
const schema = fc.record({ type: fc.constantFrom('string', 'integer', 'array'), description: fc.string() });
const argument = fc.record({ name: unusualName, location, key: unusualName, schema, isRequired: fc.boolean() });
const operation = fc
  .record({
    name,
    description: fc.string(),
    method: fc.constantFrom<RestMethod>('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    inputs: fc.uniqueArray(argument, { selector: ({ name }) => name, maxLength: 6 }),
    constants: fc.array(fc.record({ location, key: unusualName, value: fc.jsonValue() }), { maxLength: 3 }),
  })
  .map(({ inputs, ...rest }): RestToolDefinition => {
    // Integer keys come first in every object, so the expected value has them first, too.
    const inOrder = inputs.toSorted((left, right) => Number(right.name === '2') - Number(left.name === '2'));
    const required = inOrder.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    return {
      ...rest,
      url: 'https://api.example/',
      parameters: {
        type: 'object',
        properties: Object.fromEntries(inOrder.map((input) => [input.name, input.schema])),
        ...(required.length > 0 && { required }),
      },
      arguments: inOrder.map((input) => ({ name: input.name, location: input.location, key: input.key })),
      constants: rest.constants.filter(({ key }) => key !== '2'),
      contentType: 'application/json',
      isPublic: false,
    };
  });

const get = (operationId: string, fields: object = {}) => ({ get: { operationId, responses: {}, ...fields } });

async function read(document: object, selection: OperationSelection = {}) {
  return toToolsets(await readOpenApi(parseDocument(JSON.stringify(document)), documentUrl), selection);
}

function openapi(paths: object, fields: object = {}) {
  return { openapi: '3.1.0', info, servers: [{ url: '/v1' }], paths, ...fields };
}

async function importAuthorization(scheme: object, scopes: string[] = []) {
  const components = { securitySchemes: { petAuth: scheme } };
  const { toolsets, notes } = await read(openapi({ '/pets': get('pets') }, { components, security: [{ petAuth: scopes }] }));
  return { authorization: toolsets[0]?.authorization, notes };
}

const listNames = ({ toolsets }: Awaited<ReturnType<typeof read>>) =>
  toolsets.map(({ tools }) => tools.map(({ open_ai_tool }) => open_ai_tool.function.name));

describe('toToolsets', () => {
  const v2 = {
    swagger: '2.0',
    info,
    host: 'api.example',
    basePath: '/v1',
    schemes: ['https'],
    paths: {
      '/pets/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, type: 'integer' }],
        put: {
          operationId: 'savePet',
          summary: 'Saves a pet.',
          consumes: ['application/json'],
          parameters: [
            { name: 'X-Trace', in: 'header', type: 'string' },
            { name: 'pet', in: 'body', schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
          ],
          responses: {},
        },
      },
    },
  };
  const v3 = (version: string) => ({
    openapi: version,
    info,
    servers: [{ url: 'https://api.example/v1' }],
    paths: {
      '/pets/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        put: {
          operationId: 'savePet',
          summary: 'Saves a pet.',
          parameters: [{ name: 'X-Trace', in: 'header', schema: { type: 'string' } }],
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
          responses: {},
        },
      },
    },
    components: { schemas: { Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } } },
  });

  it.each([
    ['2.0', v2],
    ['3.0', v3('3.0.3')],
    ['3.1', v3('3.1.0')],
  ])('returns the same toolset for version %s', async (_version, document) => {
    expect(await read(document)).toEqual({
      notes: [],
      toolsets: [
        {
          type: 'rest-api',
          name: 'Pet Shop',
          authorization: null,
          tools: [
            {
              rest_api_method_info: { method_url: 'https://api.example/v1/pets/{id}', method_type: 'put' },
              open_ai_tool: {
                type: 'function',
                function: {
                  name: 'savePet',
                  description: 'Saves a pet.',
                  parameters: {
                    type: 'object',
                    properties: {
                      id: { type: 'integer', parameter_info: { type: 'path', key: 'id' } },
                      'X-Trace': { type: 'string', parameter_info: { type: 'header', key: 'X-Trace' } },
                      name: { type: 'string', parameter_info: { type: 'body', key: 'name' } },
                    },
                    required: ['id', 'name'],
                  },
                },
              },
            },
          ],
        },
      ],
    });
  });

  it('creates the same requests as the document as an addon', async () => {
    const api = await readOpenApi(parseDocument(JSON.stringify(v3('3.1.0'))), documentUrl);
    const [toolset] = toToolsets(api, {}).toolsets;
    expect(toolset?.tools.map(toRestToolDefinition)).toEqual(api.tools);
  });

  it('returns valid settings of a quick app', async () => {
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' } } };
    const { toolsets } = await read(
      openapi({ '/a': get('a'), '/b': get('b', { security: [] }) }, { components, security: [{ key: [] }] }),
    );
    expect(findQuickAppIssues({ temperature: 0, instructions: '', model: 'm', web_api_toolset: toolsets })).toEqual([]);
  });

  it('uses a default name if the document has no title and no address', async () => {
    const document = { ...openapi({ '/a': get('a') }, { servers: [{ url: 'https://x.test' }] }), info: { title: ' ' } };
    const { toolsets } = toToolsets(await readOpenApi(parseDocument(JSON.stringify(document)), new URL('about:blank')), {});
    expect(toolsets.map(({ name }) => name)).toEqual(['API']);
  });

  it('converts operation names to valid unique names', async () => {
    const long = 'x'.repeat(70);
    const paths = { '/a': get('a.b'), '/b': get('a_b'), '/c': get(long), '/d': get(`${long}y`), '/e': get('é') };
    expect(listNames(await read(openapi(paths)))).toEqual([['a_b', 'a_b_2', 'x'.repeat(64), `${'x'.repeat(62)}_2`, '_']]);
  });

  it('omits operations that cannot be sent and adds a note', async () => {
    const requestBody = { required: true, content: {} };
    const { toolsets, notes } = await read(openapi({ '/image': { post: { operationId: 'image', requestBody } } }));
    expect([toolsets, notes]).toEqual([[], ['image was left out: its required body has no media type.']]);
  });

  it('rejects a reference to another document', async () => {
    for (const ref of ['file:///etc/passwd', '/etc/passwd', 'http://127.0.0.1/x.json#/a', 'other.yaml']) {
      const paths = { '/a': { get: { parameters: [{ $ref: ref }] } } };
      await expect(read(openapi(paths))).rejects.toThrow('references another document');
    }
  });
});

describe('toToolsets with a choice of operations', () => {
  const paths = { '/a': get('a.b'), '/c': get('c'), '/d': get('d') };

  it.each<[OperationSelection, string[]]>([
    [{}, ['a_b', 'c', 'd']],
    [{ include: ['c', 'a.b'] }, ['a_b', 'c']],
    [{ include: ['a_b'] }, ['a_b']],
    [{ exclude: ['a_b', 'c'] }, ['d']],
    [{ include: ['c', 'd'], exclude: ['d'] }, ['c']],
  ])('selects for %j the operations %j', async (selection, names) => {
    expect(listNames(await read(openapi(paths), selection))).toEqual([names]);
  });

  it('adds a note for an unknown operation', async () => {
    const { toolsets, notes } = await read(openapi(paths), { include: ['C'] });
    expect([toolsets, notes]).toEqual([[], ['There is no operation named C that can be a tool.']]);
  });
});

describe('toToolsets credentials', () => {
  const toPlaceholder = (what: string) => `\${PET_SHOP_PET_AUTH_${what}}`;
  const clientCredentials = { tokenUrl: 'https://id.example/token', scopes: {} };

  it.each<[string, object, JsonObject]>([
    [
      'a key in a header',
      { type: 'apiKey', in: 'header', name: 'X-Key' },
      { type: 'api_key', key: toPlaceholder('KEY'), name: 'X-Key', location: 'header' },
    ],
    [
      'a key in the query',
      { type: 'apiKey', in: 'query', name: 'k' },
      { type: 'api_key', key: toPlaceholder('KEY'), name: 'k', location: 'query' },
    ],
    [
      'a user name and password',
      { type: 'http', scheme: 'Basic' },
      { type: 'basic', username: toPlaceholder('USERNAME'), password: toPlaceholder('PASSWORD') },
    ],
    ['a bearer token', { type: 'http', scheme: 'bearer' }, { type: 'bearer', token: toPlaceholder('TOKEN') }],
    [
      'client credentials',
      { type: 'oauth2', flows: { clientCredentials } },
      {
        type: 'client_id_secret',
        client_id: toPlaceholder('CLIENT_ID'),
        client_secret: toPlaceholder('CLIENT_SECRET'),
        token_url: 'https://id.example/token',
        scope: 'read write',
      },
    ],
    [
      'a token from a user sign-in',
      { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://id.example/', scopes: {} } } },
      { type: 'bearer', token: toPlaceholder('TOKEN') },
    ],
    [
      'OpenID Connect',
      { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/' },
      { type: 'bearer', token: toPlaceholder('TOKEN') },
    ],
  ])('uses placeholders for %s', async (_what, scheme, expected) => {
    expect(await importAuthorization(scheme, ['read', 'write'])).toEqual({ authorization: expected, notes: [] });
  });

  it.each([
    ['a cookie', { type: 'apiKey', in: 'cookie', name: 'c' }],
    ['a certificate', { type: 'mutualTLS' }],
    ['another HTTP scheme', { type: 'http', scheme: 'digest' }],
  ])('adds a note for unsupported credentials: %s', async (_what, scheme) => {
    const { authorization, notes } = await importAuthorization(scheme);
    expect([authorization, notes]).toEqual([null, ['pets requires credentials that a quick app cannot send: petAuth.']]);
  });

  it('uses the first supported scheme that is sufficient alone', async () => {
    const securitySchemes = {
      cookie: { type: 'apiKey', in: 'cookie', name: 'c' },
      key: { type: 'apiKey', in: 'header', name: 'k' },
      bearer: { type: 'http', scheme: 'bearer' },
    };
    const security = [{}, { unknown: [] }, { cookie: [] }, { key: [], bearer: [] }, { bearer: [] }];
    const { toolsets } = await read(openapi({ '/a': get('a') }, { components: { securitySchemes }, security }));
    expect(toolsets.map(({ authorization }) => authorization?.type)).toEqual(['bearer']);
  });

  it('creates one toolset per scheme and one for operations without credentials', async () => {
    const securitySchemes = { one: { type: 'http', scheme: 'bearer' }, two: { type: 'oauth2', flows: { clientCredentials } } };
    const paths = {
      '/a': get('a', { security: [{ one: [] }] }),
      '/b': get('b', { security: [] }),
      '/c': get('c', { security: [{ two: ['x'] }] }),
      '/d': get('d', { security: [{ two: ['y'] }] }),
      '/e': get('e', { security: [{ one: [] }] }),
    };
    const { toolsets } = await read(openapi(paths, { components: { securitySchemes } }));
    expect(toolsets).toMatchObject([
      { name: 'Pet Shop (one)', authorization: { type: 'bearer' }, tools: [{}, {}] },
      { name: 'Pet Shop (without credentials)', authorization: null, tools: [{}] },
      { name: 'Pet Shop (two)', authorization: { scope: 'x y' }, tools: [{}, {}] },
    ]);
  });

  it('ignores an undefined scheme with the name of an object property', async () => {
    const { authorization } = await importAuthorization({ type: 'http', scheme: 'bearer' });
    expect(authorization).toBeDefined();
    const { toolsets } = await read(openapi({ '/a': get('a', { security: [{ constructor: [] }] }) }));
    expect(toolsets[0]?.authorization).toBeNull();
  });
});

describe('toRestApiTool', () => {
  it('includes the location of each value and the constants', () => {
    expect(toRestApiTool(definition)).toEqual({
      rest_api_method_info: { method_url: 'https://api.example/{shop}/find', method_type: 'post' },
      open_ai_tool: {
        type: 'function',
        function: {
          name: 'find',
          description: 'Finds.',
          parameters: {
            type: 'object',
            properties: {
              shop: { type: 'string', parameter_info: { type: 'path', key: 'shop' } },
              query: { type: 'string', description: 'What.', parameter_info: { type: 'query', key: 'q' } },
              many: { type: 'array', parameter_info: { type: 'body', key: 'many' } },
              'X-Version': { type: null, const: 2, parameter_info: { type: 'header', key: 'X-Version' } },
            },
            required: ['shop'],
          },
        },
      },
    });
  });

  it('reverses toRestToolDefinition', () => {
    expect(toRestToolDefinition(toRestApiTool(definition))).toEqual(definition);
  });

  it('renames a constant whose name conflicts with an argument', () => {
    const conflictingDefinition = { ...definition, constants: [{ location: 'header' as const, key: 'shop', value: 'x' }] };
    expect(toRestToolDefinition(toRestApiTool(conflictingDefinition))).toEqual(conflictingDefinition);
  });

  it('shows the model an argument with a single allowed value', () => {
    const only = {
      ...definition,
      parameters: { type: 'object', properties: { kind: { const: 'cat' } } },
      arguments: [{ name: 'kind', location: 'query' as const, key: 'kind' }],
      constants: [],
    };
    const read = toRestToolDefinition(toRestApiTool(only));
    expect([read.parameters, read.constants]).toEqual([{ type: 'object', properties: { kind: { enum: ['cat'] } } }, []]);
  });

  it('includes list styles, the content type, and file fields', () => {
    const parameters = {
      type: 'object',
      properties: { tags: { type: 'array' }, file: { type: 'string', format: 'binary' }, rest: { type: 'object' } },
    };
    const form: RestToolDefinition = {
      ...definition,
      parameters,
      arguments: [
        { name: 'tags', location: 'query', key: 'tags', style: 'pipeDelimited', explode: false },
        { name: 'file', location: 'body', key: 'file', isFile: true },
        { name: 'rest', location: 'whole_body', key: 'body', style: 'deepObject' },
      ],
      constants: [],
      contentType: 'multipart/form-data',
    };
    expect(toRestApiTool(form).rest_api_method_info).toMatchObject({ content_type: 'multipart/form-data' });
    expect(toRestToolDefinition(toRestApiTool(form))).toEqual(form);
  });
});

it('toRestApiTool preserves any supported operation and creates valid settings', () => {
  fc.assert(
    fc.property(operation, (definition) => {
      const tool = toRestApiTool(definition);
      const toolset = { type: 'rest-api', name: 'api', authorization: null, tools: [JSON.parse(JSON.stringify(tool))] };
      const issues = findQuickAppIssues({ temperature: 0, instructions: '', model: 'm', web_api_toolset: [toolset] });
      expect(issues).toEqual([]);
      expect(toRestToolDefinition(tool)).toEqual(definition);
    }),
  );
});
