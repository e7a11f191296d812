import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** Token counts of a reply (docs/wire.md, Usage); total = prompt + completion. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  [key: string]: unknown;
}

/** Tokens of one model within a reply. */
export interface ModelUsage {
  index: number;
  /** Deployment id; `name` has the same value. */
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

/** Extra output of a reply; has either `data` or `url`. */
export interface ResponseAttachment {
  index: number;
  /** MIME type; default text/markdown. */
  type?: string;
  title?: string;
  data?: string;
  url?: string;
  reference_type?: string;
  reference_url?: string;
}

/** An element the reply offers to the user. */
export interface Control {
  index: number;
  label: string;
  schema?: object;
}

/** A fragment of an intermediate step: opened with `name` and `status: null`, closed by a final status. */
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
  /** Whole, in one chunk. */
  state?: { [key: string]: unknown };
  /** What is done with servers that the request named; never sent as it is. */
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

/** One increment of a message; a caller joins fragments of the same index. */
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

/** One event of a streamed reply, the inner language of Parley (docs/wire.md, Streams). What upstreams add is kept. */
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

/** A whole reply (docs/wire.md, JSON answers): the fold of its chunks. */
export interface Completion {
  id: string;
  object: 'chat.completion';
  created: number;
  choices: CompletionChoice[];
  usage?: Usage | null;
  statistics?: Statistics;
  [key: string]: unknown;
}

/** An event of an upstream: an object with choices that are objects. Nothing else in it is trusted. */
export interface RawChunk {
  choices: JsonObject[];
  id?: unknown;
  created?: unknown;
  model?: unknown;
  usage?: unknown;
  statistics?: unknown;
  [key: string]: unknown;
}

/** A whole reply of an upstream: an object with choices that are objects. Nothing else in it is trusted. */
export type RawCompletion = RawChunk;

/** A whole reply as the one chunk that folds to it; its tool calls are numbered, which whole replies leave out. */
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

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly input_schema: JsonObject;
  /** What the server says of the tool. */
  readonly annotations: JsonObject | null;
}

/** A call of a remote tool, by the id that the model gave it. */
interface RemoteCall {
  readonly id: string;
  /** Label of the server. */
  readonly server: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** What a vendor signed of the call. */
  readonly signed?: unknown;
}

/** A step in what is done with a server that the request itself named. */
export type RemoteDelta =
  | { readonly kind: 'listed'; readonly server: string; readonly tools: readonly ListedTool[]; readonly error: string | null }
  | (RemoteCall & { readonly kind: 'called'; readonly approvalRequest: string | null })
  | { readonly kind: 'answered'; readonly id: string; readonly output: string | null; readonly error: string | null }
  /** It waits until the user approves of it. */
  | (RemoteCall & { readonly kind: 'held' });
