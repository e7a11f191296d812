import { ListToolsRequest, RunToolRequest } from '#contract/tool-requests.ts';
import { toolErrorReasons } from '#domain/tools/tool.ts';
import { type ApiOperation, buildObject, json, type NamedSchema } from '../http/operations/operation.ts';
import { bodyErrors, keyErrors } from '../http/operations/operation-errors.ts';

const text = { type: 'string' };

const failure = {
  anyOf: [
    buildObject({
      reason: { enum: [...toolErrorReasons], description: 'What keeps the server from being used.' },
      message: { ...text, description: 'The same in a sentence.' },
    }),
    { type: 'null' },
  ],
  description: 'Why nothing could be had of the server; null if it could.',
};

const toolList: NamedSchema = {
  name: 'ToolsetTools',
  schema: buildObject({
    tools: {
      type: 'array',
      items: buildObject(
        {
          name: { ...text, description: 'As `allowed_tools` names it.' },
          title: { ...text, description: 'For people; empty if the server has none.' },
          description: text,
          parameters: {
            type: 'object',
            description: 'JSON Schema of the arguments; absent if there was no more room for it.',
          },
          readOnly: { type: 'boolean', description: 'The server says that it changes nothing.' },
        },
        ['parameters'],
      ),
      description: 'By name, 512 at most, whichever are allowed.',
    },
    count: { type: 'integer', description: 'How many tools the server has.' },
    leftOut: {
      type: 'array',
      items: text,
      description: 'Names of tools that are described in a form that MCP does not have, and cannot be called.',
    },
    failure,
  }),
};

const triedTool: NamedSchema = {
  name: 'TriedTool',
  schema: buildObject(
    {
      outcome: {
        enum: ['answered', 'failed', 'not_run', 'asks'],
        description:
          'What became of it. `not_run`: the arguments do not follow the schema; `asks`: it goes on only once its user has answered a question.',
      },
      text: { ...text, description: 'What a model would be told; with `asks` the question.' },
      attachments: { type: 'array', items: { type: 'object' }, description: 'What the tool gave beside text.' },
      question: {
        type: 'object',
        properties: { message: text, schema: { type: 'object' } },
        description: 'With `asks`: what it wants to know, and the JSON Schema of the answer.',
      },
      durationMs: { type: 'number', description: 'How long the run took, in milliseconds.' },
      failure,
    },
    ['question'],
  ),
};

const toolset = {
  type: 'mcp',
  name: 'Files',
  mcp_server_info: { url: 'https://files.example/mcp', protocol: 'streamable_http' },
};

export const toolOperations: readonly ApiOperation[] = [
  {
    method: 'post',
    path: '/v1/tools/list',
    id: 'listToolsetTools',
    tag: 'Applications',
    summary: 'Lists what an MCP server offers now',
    description:
      'The server is asked anew, with the credentials of the toolset, which need not be saved. Nothing is kept. A server that cannot be used is an answer with its `failure`.',
    body: json({ name: 'ListToolsRequest', schema: ListToolsRequest }, { server: { summary: 'A server', value: { toolset } } }),
    answers: [{ status: 200, description: 'Its tools, or why there are none.', content: json(toolList) }],
    errors: [...keyErrors, ...bodyErrors, 'access_denied', 'deployment_not_found'],
  },
  {
    method: 'post',
    path: '/v1/tools/run',
    id: 'runToolsetTool',
    tag: 'Applications',
    summary: 'Runs one tool once',
    description:
      'The tool runs as in an answer of an application: with the credentials of the toolset, which need not be saved, within `tools.timeoutMs`, and with a result as long as a model is shown. It does what it does: a tool that writes has written. Nothing is kept here. A tool that fails is an answer.',
    body: json(
      { name: 'RunToolRequest', schema: RunToolRequest },
      { tool: { summary: 'A tool of a server', value: { toolset, tool: 'read', arguments: { path: 'notes.txt' } } } },
    ),
    answers: [{ status: 200, description: 'What became of it.', content: json(triedTool) }],
    errors: [...keyErrors, ...bodyErrors, 'access_denied', 'deployment_not_found'],
  },
];
