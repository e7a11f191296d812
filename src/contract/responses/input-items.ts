import type { JsonObject } from '#base/json/json.ts';
import type { ResponsesTool } from './tools.ts';

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
