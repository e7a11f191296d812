import { type Static, Type } from 'typebox';
import { requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { mapField, withoutNulls } from '../schemas/normalize-request.ts';
import { anyObject } from '../schemas/type-builders.ts';

/**
 * A request or notification of the Model Context Protocol (JSON-RPC 2.0). `parseMcpMessage` validates it. Unknown fields are
 * ignored.
 */
export const McpMessage = Type.Object({
  jsonrpc: Type.Enum(['2.0']),
  id: Type.Optional(
    Type.Union([Type.String(), Type.Integer()], {
      description: 'ID of the request. A message without an ID is a notification, which has no response.',
    }),
  ),
  method: Type.String({ description: 'Method, such as initialize, server/discover, tools/list, or tools/call.' }),
  params: Type.Optional(Type.Object({ _meta: Type.Optional(anyObject('Metadata of the protocol.')) })),
});
export type McpMessage = Static<typeof McpMessage> & { params?: { [key: string]: unknown } };

/** Arguments of the single tool of a deployment. */
export const McpQuery = Type.Object({
  query: Type.String({
    minLength: 1,
    description: 'The question with all necessary context. The tool remembers no earlier calls.',
  }),
});
type McpQuery = Static<typeof McpQuery>;

const McpToolCall = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(anyObject('Arguments that follow the schema of the tool.')),
});
type McpToolCall = Static<typeof McpToolCall>;

const nullable = { message: new Set(['params']), params: new Set(['_meta', 'arguments']) };
const messageShape = compileShape(McpMessage);
const callShape = compileShape(McpToolCall);
const queryShape = compileShape(McpQuery);

/**
 * Validates a message and omits optional fields that are null, except the ID, because a request without an ID is a notification.
 * Throws `invalid_request`.
 */
export function parseMcpMessage(value: unknown): McpMessage {
  const message = mapField(withoutNulls(value, nullable.message), 'params', (params) => withoutNulls(params, nullable.params));
  return requireShape(messageShape, message);
}

/** Validates the parameters of `tools/call`. Throws `invalid_request`. */
export function parseMcpToolCall(params: unknown): McpToolCall {
  return requireShape(callShape, params, 'params');
}

/** Validates the arguments of the single tool. Throws `invalid_request`. */
export function parseMcpQuery(query: unknown): McpQuery {
  return requireShape(queryShape, query, 'arguments');
}
