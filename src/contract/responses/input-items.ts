import { type TProperties, Type } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { isStorableKey, maxKeyBytes } from '#base/text/storable-key.ts';
import { createRequestError, requireShape } from '../errors/request-error.ts';
import { compileShape } from '../schemas/compile-shape.ts';
import { withoutNulls } from '../schemas/normalize-request.ts';
import { parseTools, type ResponsesTool } from './tools.ts';

/** A part of a message. */
export type InputPart =
  | { type: 'input_text' | 'output_text' | 'text'; text: string }
  | { type: 'refusal'; refusal: string }
  | { type: 'input_image'; image_url?: string; file_id?: string; detail?: string }
  | { type: 'input_file'; filename?: string; file_data?: string; file_url?: string; file_id?: string };

interface MessageInput {
  type: 'message';
  id?: string;
  role: 'user' | 'assistant' | 'system' | 'developer';
  content: string | InputPart[];
}

export interface FunctionCallInput {
  type: 'function_call';
  id?: string;
  call_id: string;
  name: string;
  namespace?: string;
  arguments: string;
}

export interface CustomCallInput {
  type: 'custom_tool_call';
  id?: string;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
}

export interface CallOutputInput {
  type: 'function_call_output' | 'custom_tool_call_output';
  id?: string;
  call_id: string;
  output: string | InputPart[];
}

interface ReasoningInput {
  type: 'reasoning';
  id?: string;
  encrypted_content?: string;
}

interface CompactionInput {
  type: 'compaction';
  id?: string;
  encrypted_content: string;
}

interface ItemReference {
  type: 'item_reference';
  id: string;
}

export interface AdditionalTools {
  type: 'additional_tools';
  id?: string;
  tools: ResponsesTool[];
}

interface McpApprovalResponse {
  type: 'mcp_approval_response';
  approval_request_id: string;
  approve: boolean;
  reason?: string;
}

/** An output item of Parley that the client sends back. */
interface ReturnedItem {
  type:
    | 'mcp_list_tools'
    | 'mcp_call'
    | 'mcp_approval_request'
    | 'parley:stage'
    | 'parley:attachment'
    | 'parley:control'
    /** State of an application. It is stored with a response, and clients never send it. */
    | 'parley:state';
  [key: string]: unknown;
}

interface CompletedControlInput {
  type: 'parley:completed_control';
  label: string;
  value?: JsonObject;
}

/** An item that only upstreams of the Responses dialect support. */
interface OtherItem {
  type: string;
  [key: string]: unknown;
}

/** A validated item of the input. */
export type InputItem =
  | MessageInput
  | FunctionCallInput
  | CustomCallInput
  | CallOutputInput
  | ReasoningInput
  | CompactionInput
  | ItemReference
  | AdditionalTools
  | McpApprovalResponse
  | ReturnedItem
  | CompletedControlInput;

/** An item of the input, including items that Parley does not support. */
export type AnyItem = InputItem | OtherItem;

const text = Type.String();
const optional = Type.Optional(text);
const id = { id: optional };
const callId = Type.String({ minLength: 1 });
const parts = Type.Union([text, Type.Array(Type.Unknown())]);
const anyObject = Type.Unsafe<JsonObject>({ type: 'object' });

const shape = (fields: TProperties) => compileShape(Type.Object(fields));
const call = { ...id, call_id: callId, name: Type.String({ minLength: 1 }), namespace: optional };
const output = shape({ ...id, call_id: callId, output: parts });
const returned = shape(id);

const shapes: Readonly<Record<InputItem['type'], ReturnType<typeof shape>>> = {
  message: shape({ ...id, role: Type.Enum(['user', 'assistant', 'system', 'developer']), content: parts }),
  function_call: shape({ ...call, arguments: text }),
  function_call_output: output,
  custom_tool_call: shape({ ...call, input: text }),
  custom_tool_call_output: output,
  reasoning: shape({ ...id, summary: Type.Optional(Type.Array(Type.Unknown())), encrypted_content: optional }),
  compaction: shape({ ...id, encrypted_content: text }),
  item_reference: shape({ id: Type.String({ minLength: 1 }) }),
  additional_tools: shape({ ...id, tools: Type.Array(Type.Unknown()) }),
  mcp_approval_response: shape({
    ...id,
    approval_request_id: Type.String({ minLength: 1 }),
    approve: Type.Boolean(),
    reason: optional,
  }),
  mcp_list_tools: returned,
  mcp_call: shape({ ...id, server_label: text, name: text, arguments: text, output: optional }),
  mcp_approval_request: shape({ id: Type.String({ minLength: 1 }), server_label: text, name: text, arguments: text }),
  'parley:stage': returned,
  'parley:attachment': returned,
  'parley:control': shape({ ...id, label: text }),
  'parley:state': shape({ state: anyObject }),
  'parley:completed_control': shape({ ...id, label: text, value: Type.Optional(anyObject) }),
};

const partShapes: Readonly<Record<string, ReturnType<typeof shape>>> = {
  input_text: shape({ text }),
  output_text: shape({ text }),
  text: shape({ text }),
  refusal: shape({ refusal: text }),
  input_image: shape({ image_url: optional, file_id: optional, detail: optional }),
  input_file: shape({ filename: optional, file_data: optional, file_url: optional, file_id: optional }),
};

/** Further item types of the OpenAI API. Upstreams of the Responses dialect can support them. */
const otherItemTypes: ReadonlySet<string> = new Set([
  ...['apply_patch_call', 'apply_patch_call_output', 'code_interpreter_call', 'compaction_trigger', 'computer_call'],
  ...['computer_call_output', 'configuration_update', 'file_search_call', 'image_generation_call', 'local_shell_call'],
  ...['local_shell_call_output', 'program', 'program_output', 'shell_call', 'shell_call_output', 'tool_search_call'],
  ...['tool_search_output', 'web_search_call'],
]);

const nullable = new Set([
  ...['id', 'namespace', 'encrypted_content', 'content', 'status', 'phase', 'caller', 'reason', 'output', 'error', 'value'],
  ...['approval_request_id', 'created_by'],
]);
const nullableInPart = new Set([
  ...['image_url', 'file_id', 'detail', 'filename', 'file_data', 'file_url', 'annotations', 'logprobs'],
  'prompt_cache_breakpoint',
]);

/** Returns whether Parley supports an item. Other items are only for upstreams of the Responses dialect. */
export function isSupportedItem(item: AnyItem): item is InputItem {
  return Object.hasOwn(shapes, item.type);
}

/**
 * Validates the items of an input, adds their types, and omits fields that are null. Throws `invalid_request` with the path of
 * the first error.
 */
export function parseItems(items: readonly unknown[], path: string): AnyItem[] {
  return items.map((item, index) => parseItem(item, `${path}[${index}]`));
}

function parseItem(value: unknown, path: string): AnyItem {
  if (!isJsonObject(value)) throw createRequestError(path, 'must be an object');
  const type = readType(value, path);
  requireStorableId(value.id, `${path}.id`);
  if (otherItemTypes.has(type)) return { ...value, type };
  if (!Object.hasOwn(shapes, type) || type === 'parley:state')
    throw createRequestError(`${path}.type`, `is ${JSON.stringify(type.slice(0, 64))}, which is not an item type of this API`);
  const itemType = type as InputItem['type'];
  const nullableFields = itemType === 'message' ? new Set([...nullable].filter((key) => key !== 'content')) : nullable;
  const item = { ...(requireShape(shapes[itemType], withoutNulls(value, nullableFields), path) as JsonObject), type: itemType };
  return withParts(item, path) as AnyItem;
}

/** Stored items are found by their ID. */
function requireStorableId(id: unknown, path: string): void {
  if (typeof id === 'string' && !isStorableKey(id))
    throw createRequestError(path, `must be valid Unicode text of at most ${maxKeyBytes} bytes without the character NUL`);
}

/** Returns the type of an item. Messages can omit the type, and so can references that have only an ID. */
function readType(value: JsonObject, path: string): string {
  const { type } = value;
  if (typeof type === 'string') return type;
  if ((type ?? null) !== null) throw createRequestError(`${path}.type`, 'must be a string');
  if ('role' in value) return 'message';
  if (Object.keys(value).every((key) => key === 'id' || key === 'type') && 'id' in value) return 'item_reference';
  throw createRequestError(`${path}.type`, 'is required');
}

function withParts(item: JsonObject & { type: InputItem['type'] }, path: string): JsonObject {
  switch (item.type) {
    case 'message':
      return Array.isArray(item.content) ? { ...item, content: parseParts(item.content, `${path}.content`) } : item;
    case 'function_call_output':
    case 'custom_tool_call_output':
      return Array.isArray(item.output) ? { ...item, output: parseParts(item.output, `${path}.output`) } : item;
    case 'additional_tools':
      return { ...item, tools: parseTools(item.tools as unknown[], `${path}.tools`) };
    default:
      return item;
  }
}

function parseParts(parts: readonly unknown[], path: string): unknown[] {
  return parts.map((part, index) => {
    const partPath = `${path}[${index}]`;
    if (!isJsonObject(part)) throw createRequestError(partPath, 'must be an object');
    const { type } = part;
    if (typeof type !== 'string')
      throw createRequestError(`${partPath}.type`, type === undefined ? 'is required' : 'must be a string');
    const shape = Object.hasOwn(partShapes, type) ? partShapes[type] : undefined;
    if (shape === undefined)
      throw createRequestError(
        `${partPath}.type`,
        `is ${JSON.stringify(type.slice(0, 64))}, which is not a content part type of this API`,
      );
    return requireShape(shape, withoutNulls(part, nullableInPart), partPath);
  });
}
