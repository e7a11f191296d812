import { errorMeanings } from '#contract/errors/error-meanings.ts';
import { type ErrorCode, errorKinds } from '#contract/errors/errors.ts';
import { toMessagesError } from '#contract/messages/dialect.ts';
import { CountBody, MessagesBody } from '#contract/messages/messages-request.ts';
import {
  type ApiOperation,
  anyObject,
  buildArray,
  buildObject,
  buildOptionalObject,
  type Content,
  type ErrorShape,
  inHeader,
  json,
  listOperations,
  type NamedSchema,
  nameObject,
  nameSchema,
  orNull,
  type Parameter,
  reply,
  type Schema,
  text,
  toIdSuffix,
} from '../http/openapi/operation.ts';
import { bodyErrors, callErrors, keyErrors, limitErrors } from '../http/openapi/operation-errors.ts';
import { exampleNames, inDeploymentPath, weatherTool } from '../http/openapi/operation-examples.ts';
import { count, customContent, customContentDelta, statistics } from '../http/openapi/shared-schemas.ts';
import { canonicalPrefix } from './error-dialect.ts';

const parley: Schema = {
  type: 'object',
  description:
    'Content without a counterpart in the Messages API: stages, attachments, controls, state, and token counts of each deployment.',
  properties: { custom_content: customContent, statistics },
};
const parleyDelta: Schema = { ...parley, properties: { custom_content: customContentDelta, statistics } };

const usage: Schema = buildOptionalObject({
  input_tokens: { ...count, description: 'Excludes tokens that were read from the cache or written to it.' },
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation: buildOptionalObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
  service_tier: orNull('string'),
  cost: { type: 'number', description: 'Cost in USD, if the request asks for it.' },
  output_tokens_details: { type: 'object', properties: { thinking_tokens: count } },
});

const stopReason: Schema = {
  enum: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal', 'model_context_window_exceeded', null],
};

const block = nameSchema('ContentBlock', {
  type: 'object',
  description: 'Text, thinking, or a tool call. An upstream of the Messages API may send further types with their own fields.',
  required: ['type'],
  properties: {
    type: { ...text, description: 'For example `text`, `thinking`, `redacted_thinking`, or `tool_use`.' },
    text,
    thinking: text,
    signature: text,
    data: text,
    id: text,
    name: text,
    input: anyObject,
  },
});

const message = nameObject(
  'MessagesReply',
  {
    id: text,
    type: { const: 'message' },
    role: { const: 'assistant' },
    model: text,
    content: buildArray(block),
    stop_reason: stopReason,
    stop_sequence: orNull('string'),
    usage,
    parley,
  },
  ['parley'],
);

const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
];

const error: Schema = buildObject({ type: { enum: errorTypes }, message: text });

const messagesError = nameObject('MessagesError', { type: { const: 'error' }, error, request_id: text }, ['request_id']);

const messagesEvent = nameSchema('MessagesEvent', {
  type: 'object',
  description: 'One event of a stream. Its fields depend on its type.',
  required: ['type'],
  properties: {
    type: {
      enum: [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
        'ping',
        'error',
      ],
    },
    message,
    // Generated clients type a response as a message or an event. This field lets them read the content of either type.
    content: { ...buildArray(block), description: 'Absent in events.' },
    index: count,
    content_block: block,
    delta: buildOptionalObject({
      type: { enum: ['text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta', 'citations_delta'] },
      text,
      partial_json: text,
      thinking: text,
      signature: text,
      citation: anyObject,
      stop_reason: stopReason,
      stop_sequence: orNull('string'),
    }),
    usage,
    parley: parleyDelta,
    error,
    request_id: text,
  },
});

const messagesModel = nameSchema('MessagesModel', {
  type: 'object',
  description: 'A deployment with all fields of the Messages API. Unknown values are null.',
  required: ['type', 'id', 'display_name', 'created_at'],
  properties: {
    type: { const: 'model' },
    id: text,
    display_name: text,
    created_at: { ...text, format: 'date-time' },
    max_input_tokens: orNull('integer'),
    max_tokens: orNull('integer'),
    capabilities: { ...anyObject, description: 'Whether each capability of the Messages API is `supported`.' },
    line: { type: 'null' },
    lifecycle: text,
    deprecated_at: orNull('string'),
    retires_at: orNull('string'),
  },
});

const messagesRequest: NamedSchema = { name: 'MessagesRequest', schema: MessagesBody };
const countRequest: NamedSchema = { name: 'CountTokensRequest', schema: CountBody };

const tokenCount = nameObject('TokenCount', { input_tokens: count });

const countErrors: readonly ErrorCode[] = [...keyErrors, ...bodyErrors, 'call_depth_exceeded', ...callErrors];
const messagesErrors: readonly ErrorCode[] = [...countErrors, 'control_not_offered', ...limitErrors];

const headers: readonly Parameter[] = [
  inHeader('anthropic-version', 'Optional version of the Messages API. `msgapi-version` is also accepted.', {
    example: '2023-06-01',
  }),
  inHeader('anthropic-beta', 'Forwarded to upstreams that support the Messages API.'),
  inHeader(
    'X-CORE-CACHE-POLICY',
    'With `cache-priority`, Parley sends a conversation to the same upstream if possible, to use its prompt cache.',
    { schema: { enum: ['availability-priority', 'cache-priority'] }, example: 'cache-priority' },
  ),
];

const description =
  'If the upstream supports the Messages API, Parley forwards the request and returns the reply unchanged. For other deployments, Parley translates both. The response header `parley-ignored` lists omitted fields. ' +
  'With `stream: true`, the response is a stream of events.';

/** Errors have a type instead of a code. The message contains the path of the invalid field. */
const errorShape: ErrorShape = { body: messagesError, describe };

function describe(code: ErrorCode): string {
  const { status } = errorKinds[code];
  const { type } = toMessagesError({ status, message: '', param: null }, '').error;
  return `\`${type}\`: ${errorMeanings[code].replace('`param` names it', 'the message begins with its path')}`;
}

/** Returns the operations below `msgapi` and below each alias. Aliases also have a list of models. */
export function messagesOperations(aliases: readonly string[]): ApiOperation[] {
  return [...toOperations(canonicalPrefix), ...aliases.flatMap((alias) => [...toOperations(alias), ...toModelOperations(alias)])];
}

function toOperations(prefix: string): ApiOperation[] {
  const path = `/${prefix}/v1/messages`;
  const shared = { tag: 'Messages', parameters: headers, errorShape, acceptsXApiKey: prefix !== canonicalPrefix } as const;
  const content = [...json(message), { type: 'text/event-stream', schema: messagesEvent }];
  return listOperations(shared, {
    [`post ${path}`]: {
      id: `createMessage_${toIdSuffix(prefix)}`,
      summary: 'Create a message',
      description,
      body: json(messagesRequest, toMessageExamples()),
      responses: [{ status: 200, description: 'The message or its events.', content }],
      errors: messagesErrors,
    },
    [`post ${path}/count_tokens`]: {
      id: `countMessageTokens_${toIdSuffix(prefix)}`,
      summary: 'Count the tokens of a request',
      description:
        'The count comes from the upstream if it supports the Messages API. Otherwise, it is an estimate. The request is free of charge.',
      body: json(countRequest, {
        message: { summary: 'One message', value: { model: exampleNames.chat, messages: [{ role: 'user', content: 'Hello' }] } },
      }),
      responses: [reply(200, 'The token count.', tokenCount)],
      errors: countErrors,
    },
  });
}

function toModelOperations(alias: string): ApiOperation[] {
  const path = `/${alias}/v1/models`;
  const id = orNull('string');
  const list = buildObject({
    data: buildArray(messagesModel),
    has_more: { type: 'boolean', description: 'Always false, because the list is complete.' },
    first_id: id,
    last_id: id,
  });
  const shared = { tag: 'Messages', errors: keyErrors, errorShape, acceptsXApiKey: true } as const;
  return listOperations(shared, {
    [`get ${path}`]: {
      id: `listMessagesModels_${toIdSuffix(alias)}`,
      summary: 'List the available deployments in the format of the Messages API',
      responses: [reply(200, 'The list.', list)],
    },
    [`get ${path}/{id}`]: {
      id: `getMessagesModel_${toIdSuffix(alias)}`,
      summary: 'Get a deployment in the format of the Messages API',
      parameters: [inDeploymentPath()],
      responses: [reply(200, 'The deployment.', messagesModel)],
      errors: ['deployment_not_found', 'access_denied'],
    },
  });
}

function toMessageExamples(): Content['examples'] {
  const createExample = (content: string, extra: object = {}) => ({
    model: exampleNames.chat,
    max_tokens: 500,
    messages: [{ role: 'user', content }],
    ...extra,
  });
  const { parameters: input_schema, ...weather } = weatherTool;
  return {
    message: { summary: 'Message as one JSON document', value: createExample('Hello') },
    stream: { summary: 'Message as a stream', value: createExample('Count to 3', { stream: true }) },
    everything: { summary: 'Message with stages, an attachment, and controls', value: createExample('Show me everything') },
    everythingStreamed: {
      summary: 'Stream with stages, an attachment, and controls',
      value: createExample('Show me everything', { stream: true }),
    },
    tool: {
      summary: 'Tool that the client runs',
      value: createExample('What is the weather in the city Oslo?', { tools: [{ ...weather, input_schema }] }),
    },
  };
}
