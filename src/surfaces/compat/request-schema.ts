import { ChatRequest } from '#contract/chat-request.ts';
import { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import { anyObject, type NamedSchema } from '../http/operation.ts';

const text = { type: 'string' };
const jsonSchema = { ...anyObject, description: 'A JSON Schema.' };

const toolCalls = {
  type: ['array', 'null'],
  description: 'Assistant messages only: the tools that the model called.',
  items: {
    type: 'object',
    required: ['id', 'type'],
    properties: {
      id: text,
      type: { ...text, description: '`function`, or another type that the upstream supports.' },
      function: {
        type: 'object',
        required: ['name', 'arguments'],
        properties: { name: text, arguments: { ...text, description: 'JSON text.' } },
      },
    },
  },
};

const toolFunction = {
  type: 'object',
  required: ['name'],
  properties: { name: text, description: text, parameters: jsonSchema, strict: { type: ['boolean', 'null'] } },
};

/** Fields of the OpenAI API that Parley passes to the deployment without checking them. */
const passedFields = {
  tools: {
    type: ['array', 'null'],
    description: 'Tools that the model may call and the client runs.',
    items: { type: 'object', required: ['type'], properties: { type: text, function: toolFunction } },
  },
  tool_choice: {
    type: ['string', 'object', 'null'],
    description: '`none`, `auto`, `required`, or an object that names one tool.',
  },
  parallel_tool_calls: { type: ['boolean', 'null'], description: 'Whether one reply may call several tools.' },
  response_format: {
    type: ['object', 'null'],
    description: 'The form of the reply: `text`, `json_object`, or `json_schema` with a schema.',
    properties: {
      type: text,
      json_schema: {
        type: 'object',
        required: ['name'],
        properties: { name: text, description: text, schema: jsonSchema, strict: { type: ['boolean', 'null'] } },
      },
    },
  },
  stream_options: {
    type: ['object', 'null'],
    properties: { include_usage: { type: 'boolean', description: 'Whether the last chunk has `usage` and no choices.' } },
  },
  max_completion_tokens: { type: ['integer', 'null'], description: 'Maximum number of generated tokens, reasoning included.' },
  seed: { type: ['integer', 'null'], description: 'Asks for the same reply to the same request.' },
  reasoning_effort: { type: ['string', 'null'], description: 'How much the model thinks, such as `low`, `medium`, or `high`.' },
};

function toChatSchema(required: readonly string[]): object {
  const { messages, ...rest } = ChatRequest.properties;
  const { items } = messages as unknown as { readonly items: { readonly properties: object } };
  const toolCallId = {
    type: ['string', 'null'],
    description: 'Tool messages only: the id of the call that the message answers.',
  };
  const message = { ...items, properties: { ...items.properties, tool_calls: toolCalls, tool_call_id: toolCallId } };
  return { ...ChatRequest, required, properties: { messages: { ...messages, items: message }, ...rest, ...passedFields } };
}

/** Body of a chat completion whose path names the deployment. */
export const chatRequest: NamedSchema = { name: 'ChatRequest', schema: toChatSchema(ChatRequest.required) };
/** Body of a chat completion whose `model` names the deployment. */
export const chatRequestByModel: NamedSchema = {
  name: 'ChatRequestByModel',
  schema: toChatSchema(['model', ...ChatRequest.required]),
};
/** Body of an embeddings request whose path names the deployment. */
export const embeddingsRequest: NamedSchema = { name: 'EmbeddingsRequest', schema: EmbeddingsRequest };
/** Body of an embeddings request whose `model` names the deployment. */
export const embeddingsRequestByModel: NamedSchema = {
  name: 'EmbeddingsRequestByModel',
  schema: { ...EmbeddingsRequest, required: ['model', ...EmbeddingsRequest.required] },
};
