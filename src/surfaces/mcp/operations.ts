import { McpMessage } from '#contract/mcp/message.ts';
import {
  type ApiOperation,
  anyObject,
  inHeader,
  inPath,
  json,
  keyErrors,
  type NamedSchema,
  type Parameter,
} from '../http/operation.ts';

const text = { type: 'string' };
const message: NamedSchema = { name: 'McpMessage', schema: McpMessage };

const answer: NamedSchema = {
  name: 'McpAnswer',
  schema: {
    type: 'object',
    required: ['jsonrpc', 'id'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer', 'null'] },
      result: anyObject,
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: { type: 'integer' }, message: text, data: anyObject },
      },
    },
  },
};

const headers: readonly Parameter[] = [
  inHeader('MCP-Protocol-Version', '2025-03-26, 2025-06-18, 2025-11-25, or 2026-07-28, in which each request stands alone.'),
  inHeader('Mcp-Method', 'From 2026-07-28 on: the method of the body.'),
  inHeader('Mcp-Name', 'From 2026-07-28 on: the tool that is called.'),
  inHeader('Mcp-Session-Id', 'As `initialize` gave it. May be absent.'),
];

const says =
  'Streamable HTTP with one tool, which takes a `query` and gives the answer with its attachments. A call that fails is a tool result with `isError`, ' +
  'which says why and names the code; a message that cannot be taken is an error of JSON-RPC. With a progress token the answer is a stream of progress and the result.';

/** Deployments as MCP servers. */
export const mcpOperations: readonly ApiOperation[] = [
  {
    method: 'post',
    path: '/v1/deployments/{id}/mcp',
    id: 'sendMcpMessage',
    tag: 'MCP',
    summary: 'Speaks to a deployment as an MCP server',
    description: says,
    parameters: [inPath('id', 'Id of a deployment that chats; it may hold slashes.'), ...headers],
    body: json(message),
    answers: [
      { status: 200, description: 'The answer.', content: [...json(answer), { type: 'text/event-stream', schema: text }] },
      { status: 202, description: 'A notification was taken.' },
    ],
    errors: [
      ...keyErrors,
      'invalid_request',
      'operation_not_supported',
      'access_denied',
      'deployment_not_found',
      'payload_too_large',
      'unsupported_media_type',
      'overloaded',
      'shutting_down',
    ],
  },
];
