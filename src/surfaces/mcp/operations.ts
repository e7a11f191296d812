import { McpMessage } from '#contract/mcp/message.ts';
import {
  type ApiOperation,
  anyObject,
  buildObject,
  type Content,
  inHeader,
  json,
  type NamedSchema,
  type Parameter,
} from '../http/operations/operation.ts';
import { compatErrorShape, keyErrors } from '../http/operations/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/operations/operation-examples.ts';
import { rpcCodes } from './rpc-error.ts';

const text = { type: 'string' };
const jsonrpc = { const: '2.0' };
const id = { type: ['string', 'integer', 'null'], description: 'That of the request; null if it could not be read.' };

/** The parameters depend on the method. */
const params = { type: 'object', description: 'Those of the method, and `_meta`: what the protocol itself has to say.' };
const message: NamedSchema = {
  name: 'McpMessage',
  schema: { ...McpMessage, properties: { ...McpMessage.properties, params } },
};

const rpcError: NamedSchema = {
  name: 'McpError',
  schema: {
    ...buildObject({
      jsonrpc,
      id,
      error: buildObject({ code: { enum: Object.values(rpcCodes) }, message: text, data: anyObject }, ['data']),
    }),
    description: 'An error of JSON-RPC.',
  },
};

const result: NamedSchema = {
  name: 'McpResult',
  schema: buildObject({ jsonrpc, id, result: anyObject }),
};

const progress: NamedSchema = {
  name: 'McpProgress',
  schema: buildObject({ jsonrpc, method: { const: 'notifications/progress' }, params: anyObject }),
};

const answer: NamedSchema = { name: 'McpAnswer', schema: { oneOf: [result, rpcError] } };
const event: NamedSchema = { name: 'McpEvent', schema: { oneOf: [result, rpcError, progress] } };

const headers: readonly Parameter[] = [
  inHeader('MCP-Protocol-Version', '2025-03-26, 2025-06-18, 2025-11-25, or 2026-07-28, in which each request stands alone.', {
    example: '2025-11-25',
  }),
  inHeader('Mcp-Method', 'From 2026-07-28 on: the method of the body.'),
  inHeader('Mcp-Name', 'From 2026-07-28 on: the tool that is called.'),
  inHeader('Mcp-Session-Id', 'As `initialize` gave it. May be absent.'),
];

const description =
  'Streamable HTTP with one tool, which takes a `query` and gives the answer with its attachments. A call that fails is a tool result with `isError`, ' +
  'which says why and names the code; a message that cannot be taken is an error of JSON-RPC. With a progress token, and an `Accept` that names `text/event-stream`, the answer is a stream of progress and the result.';

const call = { name: exampleNames.chat, arguments: { query: 'Count to 3' } };
const client = { name: 'example', version: '1.0.0' };
const examples: Content['examples'] = {
  initialize: {
    summary: 'The first request of a client',
    value: toRequest('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client }),
  },
  initialized: {
    summary: 'A notification, which has no answer',
    value: { jsonrpc: '2.0', method: 'notifications/initialized' },
  },
  list: { summary: 'What tools there are', value: toRequest('tools/list') },
  call: { summary: 'A call of the tool', value: toRequest('tools/call', call) },
  progress: {
    summary: 'A call that tells of its progress',
    value: toRequest('tools/call', { ...call, _meta: { progressToken: 'a' } }),
  },
  unknown: { summary: 'A method that does not exist', value: toRequest('tools/none') },
};

function toRequest(method: string, params?: object): object {
  return { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
}

const eitherError = json({ anyOf: [compatErrorShape.body, rpcError] });

/** Operations of deployments as MCP servers. */
export const mcpOperations: readonly ApiOperation[] = [
  {
    method: 'post',
    path: '/v1/deployments/{id}/mcp',
    id: 'sendMcpMessage',
    tag: 'MCP',
    summary: 'Speaks to a deployment as an MCP server',
    description,
    parameters: [inDeploymentPath(), ...headers],
    body: json(message, examples),
    answers: [
      {
        status: 200,
        description: 'The result, or the error of JSON-RPC for a method or parameters that the server does not know.',
        content: [...json(answer), { type: 'text/event-stream', schema: event }],
      },
      { status: 202, description: 'A notification was taken.' },
      {
        status: 400,
        description: 'An error of JSON-RPC for a body that is no message, or that disagrees with the header fields.',
        content: eitherError,
      },
      {
        status: 404,
        description: 'An error of JSON-RPC for a method that does not exist, from 2026-07-28 on.',
        content: eitherError,
      },
      {
        status: 406,
        description: '`Accept` names neither `application/json` nor `text/event-stream`.',
        content: json(compatErrorShape.body),
      },
    ],
    errors: [
      ...keyErrors,
      'operation_not_supported',
      'access_denied',
      'deployment_not_found',
      'payload_too_large',
      'unsupported_media_type',
    ],
  },
];
