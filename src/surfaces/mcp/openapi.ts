import { McpMessage } from '#contract/mcp/message.ts';
import {
  anyObject,
  buildObject,
  type Content,
  inHeader,
  json,
  listOperations,
  type NamedSchema,
  nameObject,
  nameSchema,
  type Parameter,
  reply,
  text,
} from '../http/openapi/operation.ts';
import { compatErrorShape, keyErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath } from '../http/openapi/operation-examples.ts';
import { rpcCodes } from './mcp-responder.ts';

const jsonrpc = { const: '2.0' };
const id = { type: ['string', 'integer', 'null'], description: 'ID of the request, or null if it could not be parsed.' };

const params = { type: 'object', description: 'Parameters of the method, and `_meta` for the protocol.' };
const message = nameSchema('McpMessage', { ...McpMessage, properties: { ...McpMessage.properties, params } });

const rpcError = nameSchema('McpError', {
  ...buildObject({
    jsonrpc,
    id,
    error: buildObject({ code: { enum: Object.values(rpcCodes) }, message: text, data: anyObject }, ['data']),
  }),
  description: 'A JSON-RPC error.',
});

const result = nameObject('McpResult', { jsonrpc, id, result: anyObject });

const progress = nameObject('McpProgress', { jsonrpc, method: { const: 'notifications/progress' }, params: anyObject });

const jsonResponse: NamedSchema = { name: 'McpAnswer', schema: { oneOf: [result, rpcError] } };
const streamEvent: NamedSchema = { name: 'McpEvent', schema: { oneOf: [result, rpcError, progress] } };

const headers: readonly Parameter[] = [
  inHeader(
    'MCP-Protocol-Version',
    '2025-03-26, 2025-06-18, 2025-11-25, or 2026-07-28. Requests of 2026-07-28 are independent of each other.',
    { example: '2025-11-25' },
  ),
  inHeader('Mcp-Method', 'Required from 2026-07-28 on: the method of the body.'),
  inHeader('Mcp-Name', 'Required from 2026-07-28 on: the name of the called tool.'),
  inHeader('Mcp-Session-Id', 'Optional session ID from `initialize`.'),
];

const description =
  'Streamable HTTP server with one tool, which takes a `query` and returns the reply with its attachments. A failed call returns a tool result with `isError`, ' +
  'a reason, and the error code. An invalid message returns a JSON-RPC error. With a progress token and an `Accept` header that contains `text/event-stream`, the response is a stream of progress and the result.';

const call = { name: exampleNames.chat, arguments: { query: 'Count to 3' } };
const client = { name: 'example', version: '1.0.0' };
const examples: Content['examples'] = {
  initialize: {
    summary: 'First request of a client',
    value: toRequest('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client }),
  },
  initialized: {
    summary: 'Notification, which has no response',
    value: { jsonrpc: '2.0', method: 'notifications/initialized' },
  },
  list: { summary: 'List the tools', value: toRequest('tools/list') },
  call: { summary: 'Call the tool', value: toRequest('tools/call', call) },
  progress: {
    summary: 'Call with progress notifications',
    value: toRequest('tools/call', { ...call, _meta: { progressToken: 'a' } }),
  },
  unknown: { summary: 'Unknown method', value: toRequest('tools/none') },
};

function toRequest(method: string, params?: object): object {
  return { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
}

const eitherError = json({ anyOf: [compatErrorShape.body, rpcError] });

/** Operations of deployments as MCP servers. */
export const mcpOperations = listOperations(
  { tag: 'MCP' },
  {
    'post /v1/deployments/{id}/mcp': {
      id: 'sendMcpMessage',
      summary: 'Send a message to a deployment as an MCP server',
      description,
      parameters: [inDeploymentPath(), ...headers],
      body: json(message, examples),
      responses: [
        {
          status: 200,
          description: 'The result, or a JSON-RPC error for an unknown method or invalid parameters.',
          content: [...json(jsonResponse), { type: 'text/event-stream', schema: streamEvent }],
        },
        reply(202, 'The notification was accepted.'),
        {
          status: 400,
          description: 'A JSON-RPC error for an invalid message, or for headers that do not match the body.',
          content: eitherError,
        },
        {
          status: 404,
          description: 'A JSON-RPC error for an unknown method, from 2026-07-28 on.',
          content: eitherError,
        },
        reply(406, '`Accept` does not contain `application/json` or `text/event-stream`.', compatErrorShape.body),
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
  },
);
