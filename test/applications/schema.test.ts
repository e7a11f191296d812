import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findQuickAppIssues } from '#contract/quick-app/quick-app-issues.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { schemaId, show } from './support.ts';

const ownPath = '/custom_application_schemas/quickapps';
const toSchemaPath = (id: string): string => `/v1/application_type_schemas/schema?id=${encodeURIComponent(id)}`;
let service: TestService;

beforeAll(async () => {
  service = await startService({});
});

afterAll(() => service.close());

function withoutKey(path: string): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path });
}

it('the schema of quick apps is found by every one of its IDs, and has that ID', async () => {
  const answer = await show(service, toSchemaPath(schemaId));
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/schema+json; charset=utf-8']);
  expect(answer.json).toMatchObject({ $id: schemaId, title: 'Quick app', required: ['instructions', 'model', 'temperature'] });
});

it('the schema has the same content at its own path, which requires no key', async () => {
  const { $id: _id, ...schema } = (await show(service, toSchemaPath(schemaId))).json as Record<string, unknown>;
  expect((await withoutKey(ownPath)).json).toEqual({ $id: ownPath, ...schema });
});

it('the schema by ID requires a key and a known ID', async () => {
  expect((await withoutKey(toSchemaPath(schemaId))).error.code).toBe('missing_credentials');
  const unknown = await show(service, toSchemaPath('https://any.example/other'));
  expect([unknown.status, unknown.error.type, unknown.error.param]).toEqual([404, 'not_found_error', 'id']);
  const rejected = await show(service, '/v1/application_type_schemas/schema');
  expect([rejected.status, rejected.error.param]).toEqual([400, 'id']);
});

const minimal = { temperature: 0.5, instructions: '', model: 'm' };
const tool = { type: 'function', function: { name: 'f', description: '', parameters: {} } };

function withTool({ name = 'f', method_type = 'get', method_url = 'https://r.example/' }): object {
  const open_ai_tool = { ...tool, function: { ...tool.function, name } };
  return {
    ...minimal,
    web_api_toolset: [
      { type: 'rest-api', name: 'r', tools: [{ rest_api_method_info: { method_url, method_type }, open_ai_tool }] },
    ],
  };
}

function createObsoleteToolset(method_type: string): object {
  const endpoint = { name: 'f', method_url: 'https://r.example/', method_type, description: '', parameters: [] };
  return { tool_endpoints: [endpoint], auth_info: null };
}

const applicationProperties: readonly unknown[] = [
  minimal,
  { ...minimal, temperature: 2 },
  { ...minimal, model: '' },
  { ...minimal, applications_as_tools: ['a', { conditions: [{ condition_type: 'eq', property_name: 'id', const: 'x' }] }] },
  { ...minimal, applications_as_tools: [{ conditions: [] }] },
  { ...minimal, mcp_toolset: [{ type: 'mcp', name: 'm', mcp_server_info: { url: 'https://m.example/', protocol: 'stdio' } }] },
  {
    ...minimal,
    web_api_toolset: [
      {
        type: 'rest-api',
        name: 'r',
        authorization: null,
        tools: [{ rest_api_method_info: { method_url: 'https://r.example/', method_type: 'get' }, open_ai_tool: tool }],
      },
    ],
  },
  { ...minimal, web_api_toolset: [{ type: 'rest-api', name: 'r', tools: [{}] }] },
  ...['f.g', 'f g', '', 'x'.repeat(65), 'a-B_9'].map((name) => withTool({ name })),
  ...['fetch', 'PATCH', 'Get'].map((method_type) => withTool({ method_type })),
  ...['/x', 'ftp://r.example', 'HTTPS://r.example/{id}', ''].map((method_url) => withTool({ method_url })),
  ...['patch', 'PUT'].map((method_type) => ({ ...minimal, web_api_toolset: [createObsoleteToolset(method_type)] })),
  ...['files/b/a.txt', 'files/b/', '/files/b/a.txt'].map((document_relative_url) => ({ ...minimal, document_relative_url })),
  { ...minimal, nonsense: 1 },
];

it('another JSON schema validator finds errors in the same applications', async () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile((await withoutKey(ownPath)).json as object);
  expect(applicationProperties.map((form) => validate(form))).toEqual(
    applicationProperties.map((form) => findQuickAppIssues(form).length === 0),
  );
});
