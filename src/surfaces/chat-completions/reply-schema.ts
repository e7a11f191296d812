import {
  anyObject,
  buildArray,
  buildObject,
  buildOptionalObject,
  type NamedSchema,
  orNull,
  text,
} from '../http/openapi/operation.ts';
import { count, customContent, customContentDelta, statistics, tokenCounts } from '../http/openapi/shared-schemas.ts';

const call = { type: 'object', properties: { name: text, arguments: { ...text, description: 'JSON text.' } } };

const functionCall = { ...call, type: ['object', 'null'] };

const toolCall = buildOptionalObject({ index: count, id: text, type: text, function: call });

const messageFields = {
  role: { const: 'assistant' },
  content: orNull('string'),
  refusal: orNull('string'),
  function_call: functionCall,
  tool_calls: { ...buildArray(toolCall), type: ['array', 'null'] },
  custom_content: { ...customContent, description: 'Content in addition to the text.' },
};

const message = buildOptionalObject(messageFields);

const usage: NamedSchema = {
  name: 'TokenUsage',
  schema: {
    type: 'object',
    required: Object.keys(tokenCounts),
    properties: {
      ...tokenCounts,
      prompt_tokens_details: { ...anyObject, description: 'Unchanged from the upstream.' },
      completion_tokens_details: { ...anyObject, description: 'Unchanged from the upstream.' },
      cost: {
        type: 'number',
        description:
          'Cost in USD, if the deployment has prices and the request sets `stream_options.include_cost` or `X-Parley-Include-Cost: true`.',
      },
    },
  },
};

const finishReason = orNull(
  'string',
  '`stop`, `length`, `function_call`, `tool_calls`, `content_filter`, or another value of the upstream.',
);

const delta = buildOptionalObject({
  ...messageFields,
  custom_content: { ...customContentDelta, description: 'Content in addition to the text.' },
});

/**
 * Generated clients type a response as a completion or a chunk, and read only fields of both. This is why the schema of a chunk
 * has an optional `message`.
 */
const noMessage = { ...message, description: 'Absent in chunks.' };

function toReply(object: string, part: 'message' | 'delta', added: Readonly<Record<string, object>> = {}): object {
  const choice = {
    type: 'object',
    required: ['index', part, 'finish_reason'],
    properties: {
      index: count,
      ...(part === 'delta' && { message: noMessage }),
      [part]: part === 'delta' ? delta : message,
      finish_reason: finishReason,
    },
  };
  return buildObject(
    {
      id: text,
      object: { const: object },
      created: { ...count, description: 'Seconds since the epoch.' },
      model: text,
      choices: buildArray(choice),
      usage: part === 'delta' ? { anyOf: [usage, { type: 'null' }] } : usage,
      statistics,
      ...added,
    },
    ['model', 'usage', 'statistics'],
  );
}

export const completion: NamedSchema = { name: 'Completion', schema: toReply('chat.completion', 'message') };
const chunkObject = 'chat.completion.chunk';
export const chunk: NamedSchema = { name: 'Chunk', schema: toReply(chunkObject, 'delta') };
const sequence_number = { ...count, description: 'Number of the event. Events are numbered without gaps.' };
export const numberedChunk: NamedSchema = { name: 'NumberedChunk', schema: toReply(chunkObject, 'delta', { sequence_number }) };

export const embeddings: NamedSchema = {
  name: 'Embeddings',
  schema: buildObject({
    object: { const: 'list' },
    data: buildArray(
      buildObject({
        object: { const: 'embedding' },
        index: count,
        embedding: {
          type: ['array', 'string'],
          items: { type: 'number' },
          description: 'With `encoding_format: "base64"`, the little-endian floats in base64.',
        },
      }),
    ),
    model: text,
    usage: { type: 'object', properties: { prompt_tokens: count, total_tokens: count } },
  }),
};
