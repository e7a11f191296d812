import { Ajv2020 } from 'ajv/dist/2020.js';
import { ResponseEvent } from '#contract/responses/events.ts';
import { OutputItem } from '#contract/responses/output-items.ts';
import { closeSchema } from '../validators.ts';
import type { Differences } from './conformance.ts';

// Deliberate differences from the specification (see docs/compatibility.md). Objects that the specification lacks have schemas of
// Parley.

function createCheck(schema: unknown): (value: unknown) => readonly string[] {
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(closeSchema(schema) as object);
  return (value) => (check(value) ? [] : (check.errors ?? []).map((error) => JSON.stringify(error)));
}

const isOwnItem = createCheck(OutputItem);
const isOwnEvent = createCheck(ResponseEvent);

function mapTypes<Value>(union: string, types: readonly string[], value: Value): Readonly<Record<string, Value>> {
  return Object.fromEntries(types.map((type) => [`${union}: ${type}`, value]));
}

const ownItems = ['custom_tool_call', 'mcp_list_tools', 'mcp_call', 'mcp_approval_request'];
const extensions = ['parley:stage', 'parley:attachment', 'parley:control'];
const itemsOfInputs = ['custom_tool_call_output', 'mcp_approval_response'];
const eventsOfTools = [
  ...['custom_tool_call_input.delta', 'custom_tool_call_input.done'],
  ...['mcp_list_tools.in_progress', 'mcp_list_tools.completed', 'mcp_list_tools.failed'],
  ...['mcp_call.in_progress', 'mcp_call_arguments.delta', 'mcp_call_arguments.done', 'mcp_call.completed', 'mcp_call.failed'],
];

/** Types that only these differences use. */
export const ownShapes = { ConversationShown: { id: 'string' }, ParleyShown: { 'statistics?': 'object', 'cost?': 'number' } };

export const differences: Differences = {
  ...mapTypes('ItemField', [...ownItems, ...extensions], isOwnItem),
  ...mapTypes(
    'StreamingEvent',
    eventsOfTools.map((type) => `response.${type}`),
    isOwnEvent,
  ),
  ...mapTypes('ItemField', itemsOfInputs, 'object'),
  'Tool: *': 'object',
  'AllowedToolChoice.tools: mcp': 'object',
  'JsonSchemaResponseFormat.schema': 'object',
  'Reasoning.effort': '"minimal"',
  'ReasoningBody.status': '"in_progress" | "completed" | "incomplete"',
  'InputFileContent.file_data': 'string',
  'FunctionCall.namespace': 'string',
  'ResponseResource.conversation': 'ConversationShown',
  'ResponseResource.user': 'string | null',
  'ResponseResource.parley': 'ParleyShown',
  'InputTokensDetails.cache_write_tokens': 'integer',
  'error.code': 'string | null',
  'error.message': 'string',
  'error.param': 'string | null',
  'ErrorPayload.display_message': 'string',
  'ErrorPayload.deployment': 'string',
  'ErrorPayload.consent': 'object',
  'ErrorPayload.limit': 'object',
};
