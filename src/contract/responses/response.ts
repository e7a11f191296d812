import { type Static, Type } from 'typebox';
import type { Statistics } from '../chat/chunk.ts';
import { anyObject, orNull } from '../schemas/type-builders.ts';
import { CompactionItem, OutputItem, ResponseUsage } from './output-items.ts';

const text = Type.String();

const responseStatuses = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;

/** Reasons for a response that ends early. */
const incompleteReasons = ['max_output_tokens', 'content_filter'] as const;

const ResponseError = Type.Object({ code: text, message: text });
export type ResponseError = Static<typeof ResponseError>;

/** A response of Parley (docs/responses.md). All fields that the specification requires are always present. */
export const ResponseObject = Type.Object({
  id: text,
  object: Type.Literal('response'),
  created_at: Type.Integer({ description: 'Seconds since the epoch.' }),
  completed_at: orNull(Type.Integer()),
  status: Type.Enum([...responseStatuses]),
  background: Type.Boolean(),
  error: orNull(ResponseError),
  incomplete_details: orNull(Type.Object({ reason: Type.Enum([...incompleteReasons]) })),
  instructions: orNull(text),
  max_output_tokens: orNull(Type.Integer()),
  max_tool_calls: orNull(Type.Integer()),
  model: Type.String({ description: 'ID of the deployment.' }),
  output: Type.Array(OutputItem),
  parallel_tool_calls: Type.Boolean(),
  previous_response_id: orNull(text),
  conversation: Type.Optional(orNull(Type.Object({ id: text }))),
  prompt_cache_key: orNull(text),
  reasoning: Type.Object({ effort: orNull(text), summary: orNull(text) }),
  safety_identifier: orNull(text),
  service_tier: text,
  store: Type.Boolean({ description: 'Whether the response is stored for later retrieval.' }),
  temperature: Type.Number(),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  text: Type.Object({
    format: anyObject('`{"type": "text"}`, `{"type": "json_object"}`, or a `json_schema`.'),
    verbosity: Type.Optional(text),
  }),
  tool_choice: Type.Union([text, anyObject('The required tool, or the allowed tools.')]),
  tools: Type.Array(anyObject('A tool as in the request.')),
  top_logprobs: Type.Integer(),
  truncation: Type.Enum(['auto', 'disabled']),
  usage: orNull(ResponseUsage),
  user: orNull(text),
  metadata: Type.Unsafe<{ [key: string]: string }>({ type: 'object', additionalProperties: text }),
  parley: Type.Optional(
    Type.Object({
      statistics: Type.Optional(
        Type.Unsafe<Statistics>(anyObject('Token counts of each deployment that contributed to the response.')),
      ),
      cost: Type.Optional(Type.Number({ description: 'Cost in USD, if the request has `X-Parley-Include-Cost: true`.' })),
    }),
  ),
});
export type ResponseObject = Static<typeof ResponseObject>;

/** Result of compacting a conversation. */
export const Compaction = Type.Object({
  id: text,
  object: Type.Literal('response.compaction'),
  created_at: Type.Integer({ description: 'Seconds since the epoch.' }),
  output: Type.Array(CompactionItem),
  usage: ResponseUsage,
});
export type Compaction = Static<typeof Compaction>;
