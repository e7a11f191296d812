import { type Static, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { checkFields, createRequestError, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { withoutNulls } from '../schemas/normalize-request.ts';
import { anyObject } from '../schemas/type-builders.ts';
import { type AnyItem, parseItems } from './input-items.ts';
import { parseTools, type ResponsesTool } from './tools.ts';

const text = Type.String();
const maxKeys = 16;
const maxKeyLength = 64;
const maxValueLength = 512;
const optional = Type.Optional(text);

/**
 * Values of `include` that Parley supports. Other values of the OpenAI API are passed on to upstreams, and otherwise have no
 * effect.
 */
export const includeValues = {
  encryptedReasoning: 'reasoning.encrypted_content',
  stages: 'parley:stages',
  attachments: 'parley:attachments',
  controls: 'parley:controls',
  statistics: 'parley:statistics',
} as const;

const input = Type.Optional(
  Type.Union([text, Type.Array(Type.Unsafe<JsonObject>({ type: 'object' }))], {
    description: 'A text of the user, or items: messages, calls and their outputs, reasoning (docs/responses.md).',
  }),
);

/** Fields of the prompt in all kinds of requests. */
const common = {
  model: Type.String({ description: 'ID of the deployment.' }),
  input,
  instructions: Type.Optional(Type.String({ description: 'A developer message at the start of the prompt.' })),
  previous_response_id: Type.Optional(Type.String({ description: 'ID of a stored response to continue.' })),
};

const promptFields = {
  ...common,
  conversation: Type.Optional(Type.Union([text, Type.Object({ id: text })])),
  tools: Type.Optional(Type.Array(anyObject('A tool: `function`, `custom`, `namespace`, `mcp`, or one that the upstream runs.'))),
  tool_choice: Type.Optional(
    Type.Union([Type.Enum(['none', 'auto', 'required']), Type.Unsafe<ToolChoiceObject>({ type: 'object' })]),
  ),
  parallel_tool_calls: Type.Optional(Type.Boolean()),
  reasoning: Type.Optional(
    Type.Object({ effort: optional, summary: optional }, { description: 'Settings for reasoning before the answer.' }),
  ),
  text: Type.Optional(
    Type.Object({
      format: Type.Optional(
        Type.Object({
          type: Type.Enum(['text', 'json_object', 'json_schema']),
          name: optional,
          description: optional,
          schema: Type.Optional(anyObject('A JSON Schema.')),
          strict: Type.Optional(Type.Boolean()),
        }),
      ),
      verbosity: optional,
    }),
  ),
  truncation: Type.Optional(Type.Enum(['auto', 'disabled'])),
};

interface ToolChoiceObject extends JsonObject {
  type: string;
}

/** Metadata that is stored with a response or a conversation. */
export const Metadata = Type.Record(Type.String(), Type.String({ maxLength: maxValueLength }), {
  maxProperties: maxKeys,
  description: 'Up to 16 texts of up to 512 characters, with names of up to 64 characters.',
});

/**
 * The body of `POST /v1/responses`, for the API description. `parseResponsesRequest` validates it. Unknown fields are kept for
 * upstreams of the Responses dialect.
 */
export const ResponsesBody = Type.Object({
  ...promptFields,
  include: Type.Optional(Type.Array(text)),
  stream: Type.Optional(Type.Boolean({ default: false })),
  stream_options: Type.Optional(anyObject('Options of a stream.')),
  store: Type.Optional(Type.Boolean({ default: true })),
  background: Type.Optional(Type.Boolean({ default: false })),
  max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  max_tool_calls: Type.Optional(Type.Integer({ minimum: 1 })),
  metadata: Type.Optional(Metadata),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  presence_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: Type.Optional(Type.Number({ minimum: -2, maximum: 2 })),
  top_logprobs: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
  user: optional,
  safety_identifier: optional,
  prompt_cache_key: optional,
  prompt_cache_retention: optional,
  service_tier: optional,
});

/** The body of `POST /v1/responses/input_tokens`, for the API description. */
export const InputTokensBody = Type.Object(promptFields);

/** The body of `POST /v1/responses/compact`, for the API description. */
export const CompactBody = Type.Object({ ...common, prompt_cache_key: optional });

type Body = Static<typeof ResponsesBody>;

/** A validated request of the Responses dialect, without fields that are null. */
export type ResponsesRequest = { [Key in keyof Body as Key extends 'input' | 'tools' ? never : Key]: Body[Key] } & {
  readonly input: readonly AnyItem[];
  readonly tools?: readonly ResponsesTool[];
  readonly [key: string]: unknown;
};

const bodyShape = compileShape(ResponsesBody);
const knownFields: ReadonlySet<string> = new Set(Object.keys(ResponsesBody.properties));
/** Fields whose null counts as absence. */
const nullable: ReadonlySet<string> = new Set(
  [...knownFields, 'prompt', 'context_management', 'moderation', 'client_metadata'].filter((field) => field !== 'model'),
);
const nullableInReasoning = new Set(['effort', 'summary', 'generate_summary']);
const nullableInText = new Set(['format', 'verbosity']);
const nullableInFormat = new Set(['description', 'strict', 'schema', 'name']);
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Validates a request (docs/responses.md). Throws `invalid_request` with the path of the first error. */
export function parseResponsesRequest(value: unknown): ResponsesRequest {
  if (isJsonObject(value)) checkFields(value, knownFields);
  const { input: rawInput = [], tools, ...body } = requireShape(bodyShape, isJsonObject(value) ? withoutAbsent(value) : value);
  checkFormat(body.text?.format);
  readMetadata(body.metadata);
  if (body.conversation !== undefined && body.previous_response_id !== undefined)
    throw createRequestError('previous_response_id', 'cannot be sent together with conversation');
  const items: readonly AnyItem[] =
    typeof rawInput === 'string' ? [{ type: 'message', role: 'user', content: rawInput }] : parseItems(rawInput, 'input');
  return { ...body, input: items, ...(tools && tools.length > 0 && { tools: parseTools(tools, 'tools') }) };
}

function withoutAbsent(value: JsonObject): JsonObject {
  const body = { ...withoutNulls(value, nullable) };
  const { reasoning, text: textOptions } = body;
  if (isJsonObject(reasoning)) body.reasoning = withoutNulls(reasoning, nullableInReasoning);
  if (isJsonObject(textOptions)) {
    const texts = withoutNulls(textOptions, nullableInText);
    const { format } = texts;
    body.text = isJsonObject(format) ? { ...texts, format: withoutNulls(format, nullableInFormat) } : texts;
  }
  return body;
}

function checkFormat(format: { type: string; name?: string; schema?: JsonObject } | undefined): void {
  if (format?.type !== 'json_schema') return;
  if (format.name === undefined) throw createRequestError('text.format.name', 'is required');
  if (!namePattern.test(format.name)) throw createRequestError('text.format.name', `must match ${namePattern.source}`);
  if (format.schema === undefined) throw createRequestError('text.format.schema', 'is required');
}

/**
 * Validates metadata: up to 16 strings by name. Returns undefined if there is no metadata. Throws `invalid_request` with the path
 * of the first error.
 */
export function readMetadata(metadata: unknown): JsonObject | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  if (!isJsonObject(metadata)) throw createRequestError('metadata', 'must be an object');
  const entries = Object.entries(metadata);
  if (entries.length > maxKeys) throw createRequestError('metadata', `must have at most ${maxKeys} keys`);
  for (const [key, value] of entries) {
    const param = `metadata.${key.slice(0, maxKeyLength)}`;
    if (key.length > maxKeyLength) throw createRequestError(param, `has a name of more than ${maxKeyLength} characters`);
    if (typeof value !== 'string') throw createRequestError(param, 'must be a string');
    if (value.length > maxValueLength) throw createRequestError(param, `must have at most ${maxValueLength} characters`);
  }
  return metadata;
}
