import { type Static, type TProperties, Type } from 'typebox';
import { anyObject, orNull } from '../schemas/type-builders.ts';

const text = Type.String();
const count = Type.Integer({ minimum: 0 });

function typed<const Name extends string, Fields extends TProperties>(type: Name, fields: Fields) {
  return Type.Object({ type: Type.Literal(type), ...fields });
}

const itemStatuses = ['in_progress', 'completed', 'incomplete'] as const;
export type ItemStatus = (typeof itemStatuses)[number];
const status = Type.Enum([...itemStatuses]);

/** Source of a range of the text. Indexes are UTF-16 code units. */
export const UrlCitation = typed('url_citation', {
  url: text,
  title: text,
  start_index: Type.Integer({ minimum: 0, description: 'Index of the first cited character.' }),
  end_index: Type.Integer({ minimum: 0, description: 'Index after the last cited character.' }),
});
export type UrlCitation = Static<typeof UrlCitation>;

export const OutputText = typed('output_text', {
  text,
  annotations: Type.Array(UrlCitation),
  logprobs: Type.Array(anyObject('The likelihood of a token.')),
});
export type OutputText = Static<typeof OutputText>;

export const RefusalPart = typed('refusal', { refusal: text });
export type RefusalPart = Static<typeof RefusalPart>;

export const SummaryText = typed('summary_text', { text });
export type SummaryText = Static<typeof SummaryText>;

export const OutputMessage = typed('message', {
  id: text,
  status,
  role: Type.Literal('assistant'),
  content: Type.Array(Type.Union([OutputText, RefusalPart])),
});
export type OutputMessage = Static<typeof OutputMessage>;

const callFields = { id: text, call_id: text, name: text, namespace: Type.Optional(text), status };

export const FunctionCallItem = typed('function_call', {
  ...callFields,
  arguments: Type.String({ description: 'JSON text.' }),
});
export type FunctionCallItem = Static<typeof FunctionCallItem>;

export const CustomCallItem = typed('custom_tool_call', { ...callFields, input: text });
export type CustomCallItem = Static<typeof CustomCallItem>;

export const ReasoningItem = typed('reasoning', {
  id: text,
  status: Type.Optional(status),
  summary: Type.Array(SummaryText),
  encrypted_content: Type.Optional(
    Type.String({ description: 'State of the reasoning, sealed for the user. Send it back unchanged.' }),
  ),
});
export type ReasoningItem = Static<typeof ReasoningItem>;

export const CompactionItem = typed('compaction', {
  id: text,
  encrypted_content: Type.String({ description: 'Replacement of the compacted items, sealed for the user.' }),
});

/** A stage of the response. Requires `include: ["parley:stages"]`. */
export const StageItem = typed('parley:stage', {
  id: text,
  status: Type.Enum(['in_progress', 'completed', 'failed', 'incomplete']),
  name: text,
  content: text,
  attachments: Type.Array(anyObject('Fields of `parley:attachment` except `id`, `type`, and `status`.')),
});
export type StageItem = Static<typeof StageItem>;

/** Output in addition to the text. Requires `include: ["parley:attachments"]`. */
export const AttachmentItem = typed('parley:attachment', {
  id: text,
  status,
  content_type: Type.Optional(Type.String({ description: 'MIME type. Default: text/markdown.' })),
  title: Type.Optional(text),
  data: Type.Optional(text),
  url: Type.Optional(text),
  reference_type: Type.Optional(text),
  reference_url: Type.Optional(text),
});
export type AttachmentItem = Static<typeof AttachmentItem>;

/** A control that the response offers to the user. Requires `include: ["parley:controls"]`. */
export const ControlItem = typed('parley:control', {
  id: text,
  status,
  label: text,
  schema: Type.Optional(anyObject('A JSON Schema of the value.')),
});
export type ControlItem = Static<typeof ControlItem>;

const mcpTool = Type.Object({
  name: text,
  description: Type.Optional(orNull(text)),
  input_schema: anyObject('A JSON Schema.'),
  annotations: Type.Optional(orNull(anyObject('Annotations of the tool from the server.'))),
});

export const McpListToolsItem = typed('mcp_list_tools', {
  id: text,
  server_label: text,
  tools: Type.Array(mcpTool),
  error: Type.Optional(orNull(text)),
});

export type McpListToolsItem = Static<typeof McpListToolsItem>;

export const McpCallItem = typed('mcp_call', {
  id: text,
  server_label: text,
  name: text,
  arguments: text,
  status: Type.Enum(['in_progress', 'completed', 'incomplete', 'calling', 'failed']),
  approval_request_id: orNull(text),
  output: orNull(text),
  error: orNull(text),
});

export type McpCallItem = Static<typeof McpCallItem>;

const McpApprovalRequestItem = typed('mcp_approval_request', {
  id: text,
  server_label: text,
  name: text,
  arguments: text,
});

/** All items that Parley creates in `output`. Upstreams of the Responses dialect can send other types. */
export const OutputItem = Type.Union([
  OutputMessage,
  FunctionCallItem,
  CustomCallItem,
  ReasoningItem,
  CompactionItem,
  StageItem,
  AttachmentItem,
  ControlItem,
  McpListToolsItem,
  McpCallItem,
  McpApprovalRequestItem,
]);
export type OutputItem = Static<typeof OutputItem>;

export const ResponseUsage = Type.Object({
  input_tokens: count,
  input_tokens_details: Type.Object({ cached_tokens: count, cache_write_tokens: Type.Optional(count) }),
  output_tokens: count,
  output_tokens_details: Type.Object({ reasoning_tokens: count }),
  total_tokens: count,
});
export type ResponseUsage = Static<typeof ResponseUsage>;
