import {
  anyObject,
  buildObject,
  buildOptionalObject,
  nameObject,
  nameSchema,
  orNull,
  type Schema,
  text,
} from '../http/openapi/operation.ts';
import { customContent, customContentDelta, statistics } from '../http/openapi/shared-schemas.ts';

const count = { type: 'integer', minimum: 0 };

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
  service_tier: { type: ['string', 'null'] },
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

export const message = nameObject(
  'MessagesReply',
  {
    id: text,
    type: { const: 'message' },
    role: { const: 'assistant' },
    model: text,
    content: { type: 'array', items: block },
    stop_reason: stopReason,
    stop_sequence: { type: ['string', 'null'] },
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

export const messagesError = nameObject('MessagesError', { type: { const: 'error' }, error, request_id: text }, ['request_id']);

export const messagesEvent = nameSchema('MessagesEvent', {
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
    content: { type: 'array', items: block, description: 'Absent in events.' },
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
      stop_sequence: { type: ['string', 'null'] },
    }),
    usage,
    parley: parleyDelta,
    error,
    request_id: text,
  },
});

export const messagesModel = nameSchema('MessagesModel', {
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
