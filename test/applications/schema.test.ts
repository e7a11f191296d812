import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findQuickAppIssues } from '#contract/quick-app/quick-app-issues.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { schemaId, show } from './support.ts';

const ownPath = '/custom_application_schemas/quickapps';
const byId = (id: string): string => `/v1/application_type_schemas/schema?id=${encodeURIComponent(id)}`;
let service: TestService;

beforeAll(async () => {
  service = await startService({});
});

afterAll(() => service.close());

function withoutKey(path: string): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path });
}

it('the schema of quick apps is found by any id of theirs, which it then has', async () => {
  const answer = await show(service, byId(schemaId));
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/schema+json; charset=utf-8']);
  expect(answer.json).toMatchObject({ $id: schemaId, title: 'Quick app', required: ['instructions', 'model', 'temperature'] });
});

it('the schema is the same at its own path, where no key is needed', async () => {
  const { $id: _id, ...schema } = (await show(service, byId(schemaId))).json as Record<string, unknown>;
  expect((await withoutKey(ownPath)).json).toEqual({ $id: ownPath, ...schema });
});

it('by its id the schema needs a key, and an id that is known', async () => {
  expect((await withoutKey(byId(schemaId))).error.code).toBe('missing_credentials');
  const other = await show(service, byId('https://any.example/other'));
  expect([other.status, other.error.type, other.error.param]).toEqual([404, 'not_found_error', 'id']);
  const none = await show(service, '/v1/application_type_schemas/schema');
  expect([none.status, none.error.param]).toEqual([400, 'id']);
});

const plain = { temperature: 0.5, instructions: '', model: 'm' };
const tool = { type: 'function', function: { name: 'f', description: '', parameters: {} } };

function withTool({ name = 'f', method_type = 'get', method_url = 'https://r.example/' }): object {
  const open_ai_tool = { ...tool, function: { ...tool.function, name } };
  return {
    ...plain,
    web_api_toolset: [
      { type: 'rest-api', name: 'r', tools: [{ rest_api_method_info: { method_url, method_type }, open_ai_tool }] },
    ],
  };
}

function obsolete(method_type: string): object {
  const endpoint = { name: 'f', method_url: 'https://r.example/', method_type, description: '', parameters: [] };
  return { tool_endpoints: [endpoint], auth_info: null };
}

const forms: readonly unknown[] = [
  plain,
  { ...plain, temperature: 2 },
  { ...plain, model: '' },
  { ...plain, applications_as_tools: ['a', { conditions: [{ condition_type: 'eq', property_name: 'id', const: 'x' }] }] },
  { ...plain, applications_as_tools: [{ conditions: [] }] },
  { ...plain, mcp_toolset: [{ type: 'mcp', name: 'm', mcp_server_info: { url: 'https://m.example/', protocol: 'stdio' } }] },
  {
    ...plain,
    web_api_toolset: [
      {
        type: 'rest-api',
        name: 'r',
        authorization: null,
        tools: [{ rest_api_method_info: { method_url: 'https://r.example/', method_type: 'get' }, open_ai_tool: tool }],
      },
    ],
  },
  { ...plain, web_api_toolset: [{ type: 'rest-api', name: 'r', tools: [{}] }] },
  ...['f.g', 'f g', '', 'x'.repeat(65), 'a-B_9'].map((name) => withTool({ name })),
  ...['fetch', 'PATCH', 'Get'].map((method_type) => withTool({ method_type })),
  ...['/x', 'ftp://r.example', 'HTTPS://r.example/{id}', ''].map((method_url) => withTool({ method_url })),
  ...['patch', 'PUT'].map((method_type) => ({ ...plain, web_api_toolset: [obsolete(method_type)] })),
  ...['files/b/a.txt', 'files/b/', '/files/b/a.txt'].map((document_relative_url) => ({ ...plain, document_relative_url })),
  { ...plain, nonsense: 1 },
];

it('another validator finds the same errors with the schema', async () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile((await withoutKey(ownPath)).json as object);
  expect(forms.map((form) => validate(form))).toEqual(forms.map((form) => findQuickAppIssues(form).length === 0));
});
