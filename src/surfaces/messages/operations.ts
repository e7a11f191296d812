import type { ErrorCode } from '#contract/errors.ts';
import { CountBody, MessagesBody } from '#contract/messages/messages-request.ts';
import {
  type ApiOperation,
  anyObject,
  callErrors,
  inHeader,
  inPath,
  json,
  keyErrors,
  limitErrors,
  type NamedSchema,
  type Parameter,
} from '../http/operation.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };

const usage = {
  type: 'object',
  properties: {
    input_tokens: count,
    output_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  },
};

const parley = {
  type: 'object',
  description: 'What the dialect has no place for: stages, attachments, controls, state, and token counts a model.',
  properties: { custom_content: anyObject, statistics: anyObject },
};

const message: NamedSchema = {
  name: 'MessagesReply',
  schema: {
    type: 'object',
    required: ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage'],
    properties: {
      id: text,
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: text,
      content: { type: 'array', items: anyObject },
      stop_reason: { enum: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', null] },
      stop_sequence: { type: ['string', 'null'] },
      usage,
      parley,
    },
  },
};
const messagesRequest: NamedSchema = { name: 'MessagesRequest', schema: MessagesBody };
const countRequest: NamedSchema = { name: 'CountTokensRequest', schema: CountBody };
const tokenCount = { type: 'object', required: ['input_tokens'], properties: { input_tokens: count } };

const countErrors: readonly ErrorCode[] = [...keyErrors, 'invalid_request', 'invalid_json', 'call_depth_exceeded', ...callErrors];
const messagesErrors: readonly ErrorCode[] = [...countErrors, 'control_not_offered', ...limitErrors];

const headers: readonly Parameter[] = [
  inHeader('anthropic-version', 'Version of the dialect, also as `msgapi-version`. May be absent.'),
  inHeader('anthropic-beta', 'Sent on to an upstream that speaks the dialect.'),
  inHeader(
    'X-CORE-CACHE-POLICY',
    'With `cache-priority` a conversation stays with one upstream, where its prompt may be cached.',
    {
      enum: ['availability-priority', 'cache-priority'],
    },
  ),
];

const says =
  'An upstream that speaks the dialect is sent the request as it is, and its reply comes back byte for byte; for every other deployment both are translated, and the header field `parley-ignored` of the answer names what was left out. ' +
  'With `stream: true` the answer is a stream of the events of the dialect. Errors are `{"type": "error", "error": {"type", "message"}}`.';

/** The messages surface below `msgapi`, and below each alias with a list of models. */
export function messagesOperations(aliases: readonly string[]): ApiOperation[] {
  return [...toOperations('msgapi'), ...aliases.flatMap((alias) => [...toOperations(alias), ...toListings(alias)])];
}

function toOperations(prefix: string): ApiOperation[] {
  const path = `/${prefix}/v1/messages`;
  const common = { method: 'post', tag: 'Messages', parameters: headers } as const;
  const reply = [...json(message), { type: 'text/event-stream', schema: text }];
  return [
    {
      ...common,
      path,
      id: `createMessage_${toSuffix(prefix)}`,
      summary: 'Asks a deployment for a message',
      description: says,
      body: json(messagesRequest),
      answers: [{ status: 200, description: 'The message.', content: reply }],
      errors: messagesErrors,
    },
    {
      ...common,
      path: `${path}/count_tokens`,
      id: `countMessageTokens_${toSuffix(prefix)}`,
      summary: 'Counts the tokens of a request',
      description: 'Asked of an upstream that speaks the dialect, else estimated. Nothing is charged.',
      body: json(countRequest),
      answers: [{ status: 200, description: 'The count.', content: json(tokenCount) }],
      errors: countErrors,
    },
  ];
}

function toListings(alias: string): ApiOperation[] {
  const path = `/${alias}/v1/models`;
  const list = { type: 'object', properties: { data: { type: 'array', items: anyObject }, has_more: { const: false } } };
  return [
    {
      method: 'get',
      path,
      id: `listMessagesModels_${toSuffix(alias)}`,
      tag: 'Messages',
      summary: 'Lists the deployments you may use, in the shape of the dialect',
      answers: [{ status: 200, description: 'The list.', content: json(list) }],
      errors: keyErrors,
    },
    {
      method: 'get',
      path: `${path}/{id}`,
      id: `getMessagesModel_${toSuffix(alias)}`,
      tag: 'Messages',
      summary: 'Shows one deployment, in the shape of the dialect',
      parameters: [inPath('id', 'Id of the deployment; it may hold slashes.')],
      answers: [{ status: 200, description: 'The deployment.', content: json(anyObject) }],
      errors: [...keyErrors, 'deployment_not_found', 'access_denied'],
    },
  ];
}

function toSuffix(prefix: string): string {
  return prefix.replace(/[^a-z0-9]+/gi, '_');
}
