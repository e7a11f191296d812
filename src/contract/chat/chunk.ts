import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** Token counts of a reply (docs/wire.md, Usage). The total is the sum of prompt and completion. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  [key: string]: unknown;
}

/** Token counts of one model within a reply. */
export interface ModelUsage {
  index: number;
  /** Deployment ID. `name` has the same value. */
  model: string;
  name: string;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Present if the upstream reported nothing and the counts were estimated. */
  estimated?: true;
  /** Present if an application that a user saved declared the counts. They never count against limits. */
  declared?: true;
}

export interface Statistics {
  usage_per_model: ModelUsage[];
  [key: string]: unknown;
}

/** Additional output of a reply. It has either `data` or `url`. */
export interface ResponseAttachment {
  index: number;
  /** MIME type. Default: text/markdown. */
  type?: string;
  title?: string;
  data?: string;
  url?: string;
  reference_type?: string;
  reference_url?: string;
}

/** A control that the reply offers to the user. */
export interface Control {
  index: number;
  label: string;
  schema?: object;
}

/** A part of an intermediate step. The first part has `name` and `status: null`, and the last part has a final status. */
export interface StageDelta {
  index: number;
  name?: string;
  content?: string;
  attachments?: ResponseAttachment[];
  status?: 'completed' | 'failed' | null;
}

export interface ResponseCustomContent {
  attachments?: ResponseAttachment[];
  controls?: Control[];
  stages?: StageDelta[];
  /** Complete state, in a single chunk. */
  state?: { [key: string]: unknown };
  /** Progress of tool servers that the request specified. It is never sent in this form. */
  remote?: RemoteDelta[];
}

export interface FunctionCallDelta {
  name?: string;
  arguments?: string;
}

export interface ToolCallDelta {
  index: number;
  id?: string;
  type?: 'function';
  function?: FunctionCallDelta;
}

/** An increment of a message. Clients concatenate parts with the same index. */
export interface Delta {
  role?: 'assistant';
  content?: string | null;
  custom_content?: ResponseCustomContent;
  function_call?: FunctionCallDelta;
  tool_calls?: ToolCallDelta[];
  [key: string]: unknown;
}

export type FinishReason = 'stop' | 'length' | 'function_call' | 'tool_calls' | 'content_filter';

export interface ChunkChoice {
  index: number;
  delta: Delta;
  finish_reason: FinishReason | null;
  [key: string]: unknown;
}

/**
 * An event of a streamed reply in the internal format of Parley (docs/wire.md, Streams). Additional fields of upstreams are kept.
 */
export interface Chunk {
  id: string;
  object: 'chat.completion.chunk';
  /** Seconds since the epoch. */
  created: number;
  choices: ChunkChoice[];
  usage?: Usage | null;
  statistics?: Statistics;
  [key: string]: unknown;
}

export interface CompletionChoice {
  index: number;
  message: { role: 'assistant'; content?: string | null; custom_content?: ResponseCustomContent; [key: string]: unknown };
  finish_reason: FinishReason | null;
  [key: string]: unknown;
}

/** A complete reply: the result of folding its chunks (docs/wire.md, JSON answers). */
export interface Completion {
  id: string;
  object: 'chat.completion';
  created: number;
  choices: CompletionChoice[];
  usage?: Usage | null;
  statistics?: Statistics;
  [key: string]: unknown;
}

/** An event of an upstream. Only `choices`, as a list of objects, is validated. */
export interface RawChunk {
  choices: JsonObject[];
  id?: unknown;
  created?: unknown;
  model?: unknown;
  usage?: unknown;
  statistics?: unknown;
  [key: string]: unknown;
}

/** A complete reply of an upstream. Only `choices`, as a list of objects, is validated. */
export type RawCompletion = RawChunk;

/**
 * Returns a single chunk that folds to the complete reply. Adds an index to tool calls, because tool calls of complete replies
 * have none.
 */
export function toChunk(completion: RawCompletion): RawChunk {
  return {
    ...completion,
    object: 'chat.completion.chunk',
    choices: completion.choices.map(({ message, ...choice }) => ({ ...choice, delta: toDelta(message) })),
  };
}

function toDelta(message: unknown): unknown {
  if (!isJsonObject(message) || !Array.isArray(message.tool_calls)) return message;
  const calls = message.tool_calls.filter(isJsonObject);
  return { ...message, tool_calls: calls.map((call, position) => ({ ...call, index: call.index ?? position })) };
}

/** A tool in the list of a server that the request specified. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly input_schema: JsonObject;
  /** Annotations of the tool from the server. */
  readonly annotations: JsonObject | null;
}

/** A call of a remote tool. The model assigns the ID. */
interface RemoteCall {
  readonly id: string;
  /** Label of the server. */
  readonly server: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** Signature of a vendor for the call. */
  readonly signed?: unknown;
}

/** Progress of a tool server that the request specified. */
export type RemoteDelta =
  | { readonly kind: 'listed'; readonly server: string; readonly tools: readonly ListedTool[]; readonly error: string | null }
  | (RemoteCall & { readonly kind: 'called'; readonly approvalRequest: string | null })
  | { readonly kind: 'answered'; readonly id: string; readonly output: string | null; readonly error: string | null }
  /** A call that waits for the approval of the user. */
  | (RemoteCall & { readonly kind: 'held' });
