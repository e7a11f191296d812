import { RestToolset } from '#contract/quick-app/toolsets.ts';
import { toolErrorReasons } from '#domain/tools/tool.ts';
import { anyObject, buildArray, buildObject, json, listOperations, nameObject, reply, text } from '../http/openapi/operation.ts';
import { bodyErrors, keyErrors } from '../http/openapi/operation-errors.ts';
import { ImportRequest, ListToolsRequest, RunToolRequest } from './tool-requests.ts';

const failure = {
  anyOf: [
    buildObject({
      reason: { enum: [...toolErrorReasons], description: 'Reason for the failure.' },
      message: { ...text, description: 'Description of the failure in one sentence.' },
    }),
    { type: 'null' },
  ],
  description: 'Reason that the server cannot be used. Null if the request succeeded.',
};

const toolList = nameObject('ToolsetTools', {
  tools: {
    type: 'array',
    items: buildObject(
      {
        name: { ...text, description: 'Name for `allowed_tools`.' },
        title: { ...text, description: 'Display name. Empty if the server has none.' },
        description: text,
        parameters: {
          type: 'object',
          description: 'JSON Schema of the arguments. Absent if the response would be too large.',
        },
        readOnly: { type: 'boolean', description: 'Whether the server declares that the tool changes no data.' },
      },
      ['parameters'],
    ),
    description: 'Ordered by name, at most 512, including tools that `allowed_tools` excludes.',
  },
  count: { type: 'integer', description: 'Number of tools that the server has.' },
  leftOut: {
    ...buildArray(text),
    description: 'Names of tools that cannot be called because their description does not follow MCP.',
  },
  failure,
});

const triedTool = nameObject(
  'TriedTool',
  {
    outcome: {
      enum: ['answered', 'failed', 'not_run', 'asks'],
      description:
        'Outcome of the run. `not_run` means that the arguments do not match the schema. `asks` means that the tool needs an answer from the user to continue.',
    },
    text: { ...text, description: 'Text that a model would receive. With `asks`, the question.' },
    attachments: { ...buildArray(anyObject), description: 'Results of the tool other than text.' },
    question: {
      type: 'object',
      properties: { message: text, schema: { type: 'object' } },
      description: 'Present with `asks`: the question, and the JSON Schema of the answer.',
    },
    durationMs: { type: 'number', description: 'Duration of the run in milliseconds.' },
    failure,
  },
  ['question'],
);

const toolset = {
  type: 'mcp',
  name: 'Files',
  mcp_server_info: { url: 'https://files.example/mcp', protocol: 'streamable_http' },
};

const imported = nameObject('ImportedToolsets', {
  toolsets: {
    ...buildArray(RestToolset),
    description: 'For `web_api_toolset`. Each secret is replaced by the name of a variable.',
  },
  notes: { ...buildArray(text), description: 'Parts that were left out, with the reasons.' },
});

const document = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example' }],
  paths: {
    '/items': {
      get: { operationId: 'list_items', summary: 'Lists the items', responses: { '200': { description: 'The items' } } },
    },
  },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  security: [{ key: [] }],
};

const shared = { tag: 'Applications', errors: [...keyErrors, ...bodyErrors, 'access_denied'] } as const;

/** Operations for building applications: the import of toolsets, and tests of their tools. */
export const toolOperations = listOperations(shared, {
  'post /v1/import-openapi': {
    id: 'importOpenApi',
    summary: 'Converts an OpenAPI document into tools of a quick app',
    description:
      'The document may be OpenAPI 2.0, 3.0, or 3.1. Parley does not save the toolsets. Review them, then add them to the settings of a quick app.',
    body: json(
      { name: 'ImportRequest', schema: ImportRequest },
      { document: { summary: 'A document in the request', value: { document, include: ['list_items'] } } },
    ),
    responses: [reply(200, 'The toolsets.', imported)],
  },
  'post /v1/tools/list': {
    id: 'listToolsetTools',
    summary: 'Lists the current tools of an MCP server',
    description:
      'Parley requests the list from the server with the credentials of the toolset, which need not be saved. Parley does not store the list. If the server cannot be used, the response has a `failure`.',
    body: json({ name: 'ListToolsRequest', schema: ListToolsRequest }, { server: { summary: 'A server', value: { toolset } } }),
    responses: [reply(200, 'The tools, or the failure.', toolList)],
    errors: ['deployment_not_found'],
  },
  'post /v1/tools/run': {
    id: 'runToolsetTool',
    summary: 'Runs one tool once',
    description:
      'The tool runs as for an application: with the credentials of the toolset, which need not be saved, within `tools.timeoutMs`, and with the result truncated as for a model. The run is real, so a tool may change data. Parley does not store the result. If the tool fails, the response is still 200.',
    body: json(
      { name: 'RunToolRequest', schema: RunToolRequest },
      { tool: { summary: 'A tool of a server', value: { toolset, tool: 'read', arguments: { path: 'notes.txt' } } } },
    ),
    responses: [reply(200, 'The outcome of the run.', triedTool)],
    errors: ['deployment_not_found'],
  },
});
