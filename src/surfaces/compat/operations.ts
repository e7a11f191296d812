import { ChatRequest } from '#contract/chat-request.ts';
import { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import type { ErrorCode } from '#contract/errors.ts';
import {
  type ApiOperation,
  anyObject,
  callErrors,
  inPath,
  inQuery,
  json,
  keyErrors,
  limitErrors,
  type NamedSchema,
  type Parameter,
} from '../http/operation.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const list = (items: object) => ({ type: 'array', items });

const usage = {
  type: 'object',
  required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  properties: { prompt_tokens: count, completion_tokens: count, total_tokens: count },
};

const statistics = {
  type: 'object',
  properties: {
    usage_per_model: list({ ...usage, properties: { index: count, model: text, name: text, ...usage.properties } }),
  },
};

const message = {
  type: 'object',
  properties: {
    role: { const: 'assistant' },
    content: { type: ['string', 'null'] },
    function_call: { type: 'object', properties: { name: text, arguments: { ...text, description: 'JSON text.' } } },
    custom_content: {
      type: 'object',
      description: 'What the reply has beside its text.',
      properties: { attachments: list(anyObject), stages: list(anyObject), controls: list(anyObject), state: anyObject },
    },
  },
};

const finishReason = { enum: ['stop', 'length', 'function_call', 'tool_calls', 'content_filter', null] };

function toReply(object: string, part: 'message' | 'delta'): object {
  const choice = { type: 'object', properties: { index: count, [part]: message, finish_reason: finishReason } };
  const properties = { id: text, object: { const: object }, created: count, choices: list(choice), usage, statistics };
  return { type: 'object', required: ['id', 'object', 'created', 'choices'], properties };
}

const request: NamedSchema = { name: 'ChatRequest', schema: ChatRequest };
const completion: NamedSchema = { name: 'Completion', schema: toReply('chat.completion', 'message') };
const chunk: NamedSchema = { name: 'Chunk', schema: toReply('chat.completion.chunk', 'delta') };
const embeddingsRequest: NamedSchema = { name: 'EmbeddingsRequest', schema: EmbeddingsRequest };

const errors: readonly ErrorCode[] = [
  ...keyErrors,
  'invalid_request',
  'invalid_json',
  'invalid_api_version',
  'control_not_offered',
  'call_depth_exceeded',
  'unknown_addon',
  ...limitErrors,
  ...callErrors,
];

const streamSays =
  'With `stream: true` the answer is a stream of chunks, then `data: [DONE]`; a fault after the first chunk is one event `{"error": …}` before it. ' +
  'Fields that are not listed are carried to the deployment untouched.';

const id = inPath('id', 'Id of the deployment; it may hold slashes.');
const version = 'A date `YYYY-MM-DD`, optionally with `-preview`.';

interface Place {
  readonly path: string;
  readonly suffix: string;
  readonly parameters: readonly Parameter[];
}

/** Chat completions and embeddings below each prefix, such as `compat` and `openai`, and below `/v1`. */
export function compatOperations(prefixes: readonly string[]): ApiOperation[] {
  return prefixes.map(toPlace).concat({ path: '/v1/{operation}', suffix: 'V1', parameters: [] }).flatMap(toOperations);
}

function toPlace(prefix: string): Place {
  const base = `/${prefix}/deployments/{id}/{operation}`;
  const suffix = prefix.replace(/[^a-z0-9]+/gi, '_');
  if (prefix === 'compat') return { path: `${base}/{api_version}`, suffix, parameters: [id, inPath('api_version', version)] };
  return { path: base, suffix, parameters: [id, inQuery('api-version', version)] };
}

function toOperations({ path, suffix, parameters }: Place): ApiOperation[] {
  const chatAnswer = {
    status: 200,
    description: 'The reply.',
    content: [...json(completion), { type: 'text/event-stream', schema: chunk }],
  };
  return [
    {
      method: 'post',
      path: path.replace('{operation}', 'chat/completions'),
      id: `createChatCompletion_${suffix}`,
      tag: 'Chat',
      summary: 'Asks a deployment for a reply',
      description: streamSays,
      parameters,
      body: json(request),
      answers: [chatAnswer],
      errors,
    },
    {
      method: 'post',
      path: path.replace('{operation}', 'embeddings'),
      id: `createEmbeddings_${suffix}`,
      tag: 'Embeddings',
      summary: 'Asks a model for vectors of texts',
      parameters,
      body: json(embeddingsRequest),
      answers: [{ status: 200, description: 'The vectors.', content: json(anyObject) }],
      errors: errors.filter((code) => code !== 'control_not_offered' && code !== 'unknown_addon'),
    },
  ];
}
