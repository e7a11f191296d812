import type { JsonObject } from '#base/json/json.ts';
import type { Statistics } from '../chat/chunk.ts';
import type { Native } from '../chat/frame.ts';
import type { CustomContent } from '../chat/message.ts';
import { parseMessage } from '../chat/parse-message.ts';
import type { ContextOverflow } from '../errors/error-conditions.ts';
import type { ParleyError } from '../errors/errors.ts';

const errorTypes: ReadonlyMap<number, MessagesErrorType> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

const overflowWords = 'prompt is too long';

/** Unknown fields. They are kept, because the dialect grows with every release. */
interface UnknownFields {
  [key: string]: unknown;
}

/** End of a cacheable part of the prompt. It is kept at any position. */
interface CacheControl extends UnknownFields {
  type: 'ephemeral';
  ttl?: '5m' | '1h';
}

export interface TextBlock extends UnknownFields {
  type: 'text';
  /** Never empty in a request. */
  text: string;
  cache_control?: CacheControl;
}

export type Base64Source = { type: 'base64'; media_type: string; data: string };
export type UrlSource = { type: 'url'; url: string };

export interface ImageBlock extends UnknownFields {
  type: 'image';
  source: Base64Source | UrlSource;
}

export interface DocumentBlock extends UnknownFields {
  type: 'document';
  source:
    | Base64Source
    | UrlSource
    | { type: 'text'; media_type: 'text/plain'; data: string }
    | { type: 'content'; content: string | (TextBlock | ImageBlock)[] };
  title?: string | null;
  context?: string | null;
}

export interface ToolUseBlock extends UnknownFields {
  type: 'tool_use';
  id: string;
  name: string;
  input: UnknownFields;
}

export interface ToolResultBlock extends UnknownFields {
  type: 'tool_result';
  tool_use_id: string;
  content?: string | ContentBlock[];
  is_error?: boolean;
}

/** Thinking of the model. It is sent back unchanged, because the signature covers the text. */
export interface ThinkingBlock extends UnknownFields {
  type: 'thinking';
  thinking: string;
  signature: string;
}

export interface RedactedThinkingBlock extends UnknownFields {
  type: 'redacted_thinking';
  data: string;
}

/** A block of another type, such as a block of a tool that the upstream runs. */
interface OtherBlock extends UnknownFields {
  type: string;
}

export type KnownBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock;

export type ContentBlock = KnownBlock | OtherBlock;

export interface MessageParam extends UnknownFields {
  role: 'user' | 'assistant';
  content: string | ContentBlock[];
}

/** A tool that the client runs. Tools of the upstream have a specific `type` and no `input_schema`. */
export interface ToolOffer extends UnknownFields {
  name: string;
  type?: string | null;
  description?: string;
  input_schema?: UnknownFields;
  cache_control?: CacheControl;
}

export interface ToolChoice extends UnknownFields {
  type: 'auto' | 'any' | 'tool' | 'none';
  /** Name of the tool that must be called, for the type `tool`. */
  name?: string;
  disable_parallel_tool_use?: boolean;
}

interface ThinkingConfig extends UnknownFields {
  type: 'enabled' | 'disabled' | 'adaptive' | (string & {});
  /** For the type `enabled`: at least 1024 and below `max_tokens`. */
  budget_tokens?: number;
}

/** The body of `POST …/v1/messages`. */
export interface MessagesRequest extends UnknownFields {
  model: string;
  max_tokens: number;
  messages: MessageParam[];
  system?: string | TextBlock[];
  stream?: boolean;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  stop_sequences?: string[];
  tools?: ToolOffer[];
  tool_choice?: ToolChoice;
  thinking?: ThinkingConfig;
  output_config?: {
    effort?: string | null;
    format?: { type: 'json_schema'; schema: UnknownFields } | null;
    [key: string]: unknown;
  };
  metadata?: { user_id?: string | null; [key: string]: unknown };
}

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded';

/** Token counts. `input_tokens` does not include tokens that were read from the cache or written to it. */
export interface MessagesUsage extends UnknownFields {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  /** Tokens that were written to the cache, by cache duration. */
  cache_creation?: { ephemeral_5m_input_tokens?: number; ephemeral_1h_input_tokens?: number } | null;
  service_tier?: string | null;
  output_tokens_details?: { thinking_tokens?: number; [key: string]: unknown } | null;
}

/** A complete reply, or the start of a streamed reply with empty `content` and `stop_reason` null. */
export interface MessagesReply extends UnknownFields {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: ContentBlock[];
  stop_reason: StopReason | null;
  stop_sequence: string | null;
  usage: MessagesUsage;
}

export type BlockDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'citations_delta'; citation: UnknownFields };

/** Counts are cumulative. Absent counts keep the values of the `message_start` event. */
export interface MessageDeltaEvent extends UnknownFields {
  type: 'message_delta';
  delta: { stop_reason: StopReason | null; stop_sequence: string | null; [key: string]: unknown };
  usage: Partial<MessagesUsage>;
}

interface MessagesError {
  type: 'error';
  error: { type: MessagesErrorType; message: string; [key: string]: unknown };
  request_id?: string;
}

/** Events of a stream. The `event:` line of each event repeats its `type`. */
export type MessagesEvent =
  | { type: 'message_start'; message: MessagesReply }
  | { type: 'content_block_start'; index: number; content_block: ContentBlock }
  | { type: 'content_block_delta'; index: number; delta: BlockDelta }
  | { type: 'content_block_stop'; index: number }
  | MessageDeltaEvent
  | { type: 'message_stop' }
  | { type: 'ping' }
  | MessagesError;

type MessagesErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'api_error'
  | 'overloaded_error';

type ReportedError = Pick<ParleyError, 'status' | 'message' | 'param'> &
  Partial<Pick<ParleyError, 'displayMessage' | 'overflow'>>;

/**
 * Returns an error in the form of the Messages dialect. The type depends on the status, and the message starts with the dotted
 * path of the invalid field.
 */
export function toMessagesError(error: ReportedError, requestId: string): MessagesError {
  const { status, displayMessage } = error;
  const type = errorTypes.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const display = displayMessage && { display_message: displayMessage };
  return { type: 'error', error: { type, message: toMessage(error), ...display }, request_id: requestId };
}

/** Changes `messages[0].content must be …` to `messages.0.content: must be …`. */
function toMessage({ message, param, overflow }: ReportedError): string {
  if (overflow !== undefined) return toOverflowMessage(message, overflow);
  if (param === null || !message.startsWith(`${param} `)) return message;
  return `${param.replace(/\[(\d+)\]/g, '.$1')}: ${message.slice(param.length + 1)}`;
}

/** Clients of the dialect shorten a conversation only if the message contains these words. */
function toOverflowMessage(message: string, { actual, limit }: ContextOverflow): string {
  if (message.includes(overflowWords)) return message;
  if (actual !== undefined && limit !== undefined) return `${overflowWords}: ${actual} tokens > ${limit} maximum`;
  return `${overflowWords}: ${message}`;
}

/** Properties of the bytes of a relayed reply. */
export interface Relayed extends Native {
  /** Header fields of the reply for the client. They are sent with the first bytes. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Content of a Parley reply that the dialect does not support. It is the field `parley` of a message and of the events `ping`
 * (increments) and `message_delta` (complete). Clients that do not know it ignore it.
 */
export interface ParleyExtension {
  /** Stages, attachments, controls, and state. */
  custom_content?: object;
  /** Token counts in `usage_per_model`. */
  statistics?: Statistics;
}

/** Validates the custom content in the field `parley` of a request message. Throws `invalid_request`. */
export function parseParleyExtension(
  role: 'user' | 'assistant' | 'system',
  { custom_content }: JsonObject,
  path: string,
): CustomContent | undefined {
  return parseMessage({ role, content: '', custom_content }, path).custom_content;
}
